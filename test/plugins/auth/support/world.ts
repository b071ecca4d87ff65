import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { DataSource, type EntitySchema } from 'typeorm'
import { auth, type AuthEvents, type AuthOptions } from '../../../../plugins/auth/index.ts'
import { basicAuth, type BasicAuthOptions } from '../../../../plugins/auth/basic/index.ts'
import { database } from '../../../../plugins/database/index.ts'
import { AuthRefreshTokens, AuthResetTokens, AuthUsers } from '../../../../plugins/auth/relational/schema.ts'
import {
  createApp,
  createRouter,
  type AnyBrick,
  type PolicyContext,
  type User,
} from '../../../../src/index.ts'
import { Client } from './client.ts'
import { EVENT_TYPES } from './event-types.ts'

/** What a test may ask of its world. */
export interface WorldOptions {
  readonly auth?: Partial<BasicAuthOptions>
  readonly brick?: AuthOptions
  readonly app?: Omit<NonNullable<Parameters<typeof createApp>[0]>, 'bricks'>
  readonly entities?: readonly EntitySchema<never>[]
  /** A file instead of memory; given, it must exist and outlives the world. */
  readonly file?: true | string
  /** Leaves the tables out. */
  readonly withoutTables?: boolean
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

export async function openWorld(options: WorldOptions = {}) {
  const clock = {
    time: START,
    now: () => clock.time,
    advance: (seconds: number) => (clock.time += seconds * 1000),
  }
  const storage = await openStorage(options)
  const mails: { to: string; token: string }[] = []
  const app = createApp({ environment: 'test', logger: false, clock, ...options.app })
    .use(database(storage.source))
    .use(auth(basicAuth(authOptions(options, mails)), { policies: POLICIES, ...options.brick }))
    .use(guardedRoutes())
  for (const brick of options.bricks ?? []) app.use(brick)
  const events: { type: keyof AuthEvents; event: Record<string, unknown> }[] = []
  for (const type of EVENT_TYPES)
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
    source: storage.source,
    file: storage.file,
    client: () => new Client(app),
    close,
  }
}

/** Opens a world, hands it over and closes it whatever happens. */
export async function inWorld(
  options: WorldOptions,
  body: (world: World) => Promise<unknown>,
): Promise<void> {
  const world = await openWorld(options)
  try {
    await body(world)
  } finally {
    await world.close()
  }
}

/** Resolves when `condition` holds, which takes a few turns of the event loop after an answer; after 5 s it fails. */
export async function eventually(condition: () => boolean): Promise<void> {
  const end = performance.now() + 5000
  while (!condition() && performance.now() < end) await turnOfTheLoop()
  if (!condition()) throw new Error('It did not happen within five seconds.')
}

/** A client that has just signed up as Ada. */
export async function signedUp(world: World): Promise<Client> {
  const client = world.client()
  const answer = await client.post('/auth/signup', ADA)
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

function authOptions(options: WorldOptions, mails: { to: string; token: string }[]): BasicAuthOptions {
  return {
    secret: SECRET,
    cost: CHEAP,
    ...(options.limited ? {} : { limits: false }),
    ...(options.withoutSendResetEmail ? {} : { sendResetEmail: (to, token) => mails.push({ to, token }) }),
    ...options.auth,
  }
}

async function openStorage({ file, entities, withoutTables }: WorldOptions) {
  const directory = file === true ? await mkdtemp(join(tmpdir(), 'mortar-auth-')) : undefined
  const path = directory ? join(directory, 'app.db') : String(file ?? ':memory:')
  const source = new DataSource({
    type: 'better-sqlite3',
    database: path,
    entities: [...(entities ?? (withoutTables ? [] : [AuthUsers, AuthRefreshTokens, AuthResetTokens]))],
    synchronize: !withoutTables,
  })
  const remove = async () => void (directory && (await rm(directory, { recursive: true, force: true })))
  return { source, remove, file: path }
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
