import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { auth, type AuthEvents, type AuthOptions } from '@mortar/auth'
import type { PasswordAuthOptions, ConnectedPasswordProvider } from '@mortar/auth/basic'
import { createApp, createRouter, type AnyBrick, type PolicyContext, type User } from 'mortar'
import { Client } from './client.ts'
import { EVENT_TYPES, FEATURE_EVENT_TYPES } from './event-types.ts'
import { RELATIONAL } from './relational-storage.ts'
import type { StorageOptions, StorageVariant } from './storage.ts'

/** Options of a test's world. */
export interface WorldOptions extends StorageOptions {
  readonly auth?: Partial<PasswordAuthOptions>
  readonly brick?: AuthOptions
  readonly app?: Omit<NonNullable<Parameters<typeof createApp>[0]>, 'bricks'>
  /** Keeps the limits as they are by default. */
  readonly limited?: boolean
  readonly bricks?: readonly AnyBrick[]
  /** Gives no `sendResetEmail`. */
  readonly withoutSendResetEmail?: boolean
}

/** An application with the auth brick, its clock, and what it has sent and emitted. */
export type World = Awaited<ReturnType<typeof openWorld>>

export const SECRET = 'a secret of the tests that is long enough for anything'
/** The least that argon2 takes. */
export const CHEAP = { memory: 64, passes: 1 }
export const PASSWORD = 'correct horse battery'
export const ADA = { name: 'Ada', email: 'ada@example.com', password: PASSWORD }
const START = Date.UTC(2030, 0, 1, 12)

export async function openWorld(options: WorldOptions = {}, variant: StorageVariant = RELATIONAL) {
  const clock = {
    time: START,
    now: () => clock.time,
    advance: (seconds: number) => (clock.time += seconds * 1000),
  }
  const storage = await variant.open(options)
  const mails: { to: string; token: string }[] = []
  // The document is built at the start of every application, and takes a quarter of its start.
  const app = createApp({ environment: 'test', logger: false, openapi: false, clock, ...options.app })
    .use(auth(storage.provider(authOptions(options, mails)), { policies: POLICIES, ...options.brick }))
    .use(guardedRoutes())
  for (const brick of [...storage.bricks, ...(options.bricks ?? [])]) app.use(brick)
  const events: { type: keyof AuthEvents; event: Record<string, unknown> }[] = []
  for (const type of [...EVENT_TYPES, ...FEATURE_EVENT_TYPES])
    app.events.typed<AuthEvents>().on(type, (event) => void events.push({ type, event: { ...event } }))
  const close = async () => {
    await app.close()
    await storage.remove()
  }
  await app.ready().catch(async (error: unknown) => {
    await close()
    throw error
  })
  const typesOf = () => events.map(({ type }) => type)
  return {
    app,
    clock,
    mails,
    events,
    typesOf,
    storage,
    file: storage.file,
    client: () => new Client(app),
    close,
  }
}

/** Opens a world, hands it over and closes it whatever happens. */
export type InWorld = (options: WorldOptions, body: (world: World) => Promise<unknown>) => Promise<void>

/** A world on a relational database, for what has nothing to do with the store. */
export const inWorld: InWorld = (options, body) => within(() => openWorld(options), body)

/** Opens a world, hands it over and closes it whatever happens. */
export async function within(
  open: () => Promise<World>,
  body: (world: World) => Promise<unknown>,
): Promise<void> {
  const world = await open()
  try {
    await body(world)
    world.storage.interruptions.assertHappened()
  } finally {
    await world.close()
  }
}

/** Resolves when `condition` is true, a few event-loop turns after a response; fails after a minute. */
export async function eventually(condition: () => boolean): Promise<void> {
  const end = performance.now() + 60_000
  while (!condition() && performance.now() < end) await turnOfTheLoop()
  if (!condition()) throw new Error('It did not happen within a minute.')
}

/** Waits for what earlier requests do after their answers, such as housekeeping. */
export function settle(world: World): Promise<void> {
  return (world.app.services as { authProvider: ConnectedPasswordProvider }).authProvider.flows.settled()
}

/** A client that has just signed up, as Ada if nobody else is named. */
export async function signedUp(world: World, user = ADA): Promise<Client> {
  const client = world.client()
  const answer = await client.post('/auth/signup', user)
  if (answer.status !== 201) throw new Error(answer.text)
  return client
}

/** Asks for a reset mail and waits for its token. */
export async function resetTokenFor(world: World, email = ADA.email): Promise<string> {
  const before = world.mails.length
  await world.client().post('/auth/forgot-password', { email })
  await eventually(() => world.mails.length > before)
  return world.mails.at(-1)!.token
}

function authOptions(options: WorldOptions, mails: { to: string; token: string }[]): PasswordAuthOptions {
  return {
    secret: SECRET,
    cost: CHEAP,
    ...(options.limited ? {} : { limits: false }),
    ...(options.withoutSendResetEmail ? {} : { sendResetEmail: (to, token) => mails.push({ to, token }) }),
    ...options.auth,
  }
}

const POLICIES = {
  admin: (user: User) => user.raw['role'] === 'admin',
  self: (user: User, ctx: PolicyContext) => ctx.params['id'] === user.id,
}

function guardedRoutes() {
  return createRouter()
    .get('/private', { auth: true }, ({ user }) => ({ id: user.id }))
    .get('/admin', { auth: 'admin' }, () => 'welcome')
    .get('/users/:id', { auth: 'self' }, ({ user }) => user.name)
}
