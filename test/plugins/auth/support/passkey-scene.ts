import { passkeys } from '@mortar/auth/passkeys'
import { recent } from '@mortar/auth/recent'
import { SoftAuthenticator, type SoftChanges } from '@mortar/auth/testing'
import { createRouter, defineBrick } from 'mortar'
import type { Answer, Client } from './client.ts'
import { ADA, signedUp, type World, type WorldOptions } from './world.ts'

const routes = createRouter().get('/strong', { auth: 'mfa' }, () => ({ strong: true }))

/** A world with `passkeys()`, further features, and a route for two factors. */
export function withPasskeys(
  options: Parameters<typeof passkeys>[0] = {},
  more: NonNullable<NonNullable<WorldOptions['auth']>['features']> = [],
): WorldOptions {
  return {
    withFeatures: true,
    auth: { appUrl: 'http://localhost:3000', features: [recent(), passkeys(options), ...more] },
    bricks: [defineBrick({ name: 'strong', routes: [routes] })],
  }
}

export const outcome = ({ status, body }: Answer) => [status, body?.code]
export const claimsOf = ({ accessToken = '.' }: Client) =>
  JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
export const together = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
export const countOf = (answers: readonly { status: number }[], wanted: number) =>
  answers.filter(({ status }) => status === wanted).length

/** The first half of a registration. */
export async function begin(client: Client) {
  return (await expectStatus(client.post('/auth/passkeys/options'), 200)).body
}

/** Both halves of a registration. */
export async function add(
  client: Client,
  device: SoftAuthenticator,
  changes: SoftChanges = {},
): Promise<Answer> {
  return client.post('/auth/passkeys', {
    response: device.create(await begin(client), changes),
    name: 'Phone',
  })
}

/** An assertion for a login. */
export async function assertion(client: Client, device: SoftAuthenticator, changes: SoftChanges = {}) {
  const { body } = await expectStatus(client.post('/auth/login/passkey/options'), 200)
  return device.get(body, changes)
}

/** Both halves of a login. */
export async function logIn(
  client: Client,
  device: SoftAuthenticator,
  changes: SoftChanges = {},
): Promise<Answer> {
  return client.post('/auth/login/passkey', { response: await assertion(client, device, changes) })
}

/** Ada signs up and adds a passkey. */
export async function registered(world: World, device = new SoftAuthenticator(), changes: SoftChanges = {}) {
  const client = await signedUp(world)
  const { body } = await expectStatus(add(client, device, changes), 201)
  return { client, device, passkey: body as { id: string } }
}

/** A passkey of an account without a password, as one that signs in elsewhere may have. */
export async function passwordless(world: World) {
  const scene = await registered(world)
  await world.storage.changeUsers({ password_hash: null })
  return scene
}

/** Bob signs up. */
export async function bob(world: World): Promise<Client> {
  const client = world.client()
  await expectStatus(client.post('/auth/signup', { ...ADA, name: 'Bob', email: 'bob@example.com' }), 201)
  return client
}

async function expectStatus(answer: Promise<Answer>, status: number): Promise<Answer> {
  const got = await answer
  if (got.status !== status) throw new Error(`${got.status} ${got.text}`)
  return got
}
