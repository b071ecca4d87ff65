import Database from 'better-sqlite3'
import { betterAuth, type BetterAuthOptions } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { createClient, type Injectable } from 'mortar/testing'
import type { SignedInUser } from '@mortar/auth/testing'

/** A better-auth instance on a database of its own in memory, which the test has to close. */
export function openBetterAuth(options: BetterAuthOptions = {}) {
  const database = new Database(':memory:')
  const instance = betterAuth({
    database,
    secret: 'Hm4Zc8Tq1Xv6Nd9Kw3Rb7Lp2Yg5Fs0Ja',
    baseURL: 'http://localhost',
    emailAndPassword: { enabled: true, password: CHEAP },
    telemetry: { enabled: false },
    // The tables are made later, by prepare().
    advanced: { database: { validateSchema: false } },
    logger: { disabled: true },
    ...options,
  })
  const prepare = async (): Promise<void> => (await getMigrations(instance.options)).runMigrations()
  return { instance, database, prepare }
}

/** Passwords of a test run protect nobody. */
const CHEAP = {
  hash: async (password: string) => `plain:${password}`,
  verify: async ({ hash, password }: { hash: string; password: string }) => hash === `plain:${password}`,
}

let people = 0

/** Signs somebody new up through better-auth's own route. @returns the value of the session cookie as the token. */
export async function signUpThere(app: Injectable, basePath = '/api/auth'): Promise<SignedInUser> {
  const client = createClient(app)
  const email = `person${(people += 1)}@example.com`
  const { status, body, text } = await client.post(`${basePath}/sign-up/email`, {
    name: 'Person',
    email,
    password: 'correct horse battery',
  })
  if (status !== 200) throw new Error(`${status} ${text}`)
  const cookie = client.cookie('better-auth.session_token') ?? ''
  return { userId: body.user.id, token: decodeURIComponent(cookie) }
}
