import { expect } from 'chai'
import { recent } from '@mortar/auth/recent'
import { totpCode } from '@mortar/auth/testing'
import { totp } from '@mortar/auth/totp'
import { createRouter, defineBrick } from 'mortar'
import type { Answer, Client } from './client.ts'
import { ADA, signedUp, type World, type WorldOptions } from './world.ts'

const routes = createRouter()
  .get('/strong', { auth: 'mfa' }, () => ({ strong: true }))
  .get('/recent', { auth: 'fresh' }, () => ({ recent: true }))

/** A world with `totp()` and routes for its policy. */
export const WITH_TOTP: WorldOptions = {
  withFeatures: true,
  auth: { features: [recent(), totp({ issuer: 'Paper Trail' })] },
  bricks: [defineBrick({ name: 'strong', routes: [routes] })],
}

/** Ada's authenticator, and her browser that has set it up. */
export interface Enrolled {
  readonly client: Client
  readonly secret: string
  readonly recoveryCodes: readonly string[]
  /** The code of the next step, which was not used yet. */
  next(): string
}

export const codeOf = (world: World, secret: string) => totpCode(secret, world.clock)
export const claimsOf = (token = '.') =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>

/** Sets an authenticator up for a signed-in browser. */
export async function enrol(world: World, client: Client): Promise<Enrolled> {
  const { body } = await expectStatus(client.post('/auth/totp'), 200)
  const { secret } = body as { secret: string }
  const confirmed = await expectStatus(
    client.post('/auth/totp/confirm', { code: codeOf(world, secret) }),
    200,
  )
  const next = () => {
    world.clock.advance(30)
    return codeOf(world, secret)
  }
  return { client, secret, recoveryCodes: confirmed.body.recoveryCodes, next }
}

/** Ada signs up and sets an authenticator up. */
export async function enrolled(world: World): Promise<Enrolled> {
  return enrol(world, await signedUp(world))
}

/** A set-up that was not confirmed. */
export async function started(world: World): Promise<Enrolled> {
  const client = await signedUp(world)
  const { body } = await expectStatus(client.post('/auth/totp'), 200)
  const { secret } = body as { secret: string }
  const next = () => {
    world.clock.advance(30)
    return codeOf(world, secret)
  }
  return { client, secret, recoveryCodes: [], next }
}

/** The first step of a login: the challenge of the second. */
export async function challengeFor(client: Client, password = ADA.password): Promise<string> {
  const { body } = await expectStatus(client.post('/auth/login', { ...ADA, password }), 401)
  if (body.code !== 'second_factor_required') throw new Error(JSON.stringify(body))
  return body.challenge
}

/** Both steps of a login. */
export async function logInWith(client: Client, codes: object): Promise<Answer> {
  return client.post('/auth/login/factor', { challenge: await challengeFor(client), ...codes })
}

async function expectStatus(answer: Promise<Answer>, status: number): Promise<Answer> {
  const got = await answer
  if (got.status !== status) throw new Error(`${got.status} ${got.text}`)
  return got
}

/** Disables Ada's account, and expects a login with her password to be refused like one with a wrong password. */
export async function disabledLikeWrongPassword(world: World): Promise<void> {
  const [{ id }] = await world.storage.users()
  const { authProvider } = world.app.services as unknown as {
    authProvider: { disable(id: string): Promise<boolean> }
  }
  await authProvider.disable(id)
  const right = await world.client().post('/auth/login', ADA)
  const wrong = await world.client().post('/auth/login', { ...ADA, password: 'wrong horse' })
  expect([right.status, right.text]).to.deep.equal([401, wrong.text])
}
