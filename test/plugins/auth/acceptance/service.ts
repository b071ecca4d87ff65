import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp, createRouter, type AppOptions } from 'mortar'
import { auth, type AuthEvents, type AuthOptions } from '@mortar/auth'
import { basicAuth, type BasicAuthOptions } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { createDataSource, database } from '@mortar/database'
import { createClock } from 'mortar/testing'
import type { DataSource } from 'typeorm'
import type { ServedApp } from '../../../support/adapters.ts'
import { EVENT_TYPES } from '../support/event-types.ts'

/** Options of a test service. */
export interface ServiceOptions {
  readonly auth?: Partial<BasicAuthOptions>
  readonly brick?: AuthOptions
  readonly app?: AppOptions
  readonly limited?: boolean
  readonly source?: DataSource
}

/** One response, byte for byte. */
export interface Reply {
  readonly status: number
  /** Names and values in turn, as on the wire. */
  readonly rawHeaders: readonly string[]
  readonly headers: NodeJS.Dict<string | string[]>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts on what it expects to find
  readonly body: any
  readonly cookies: readonly string[]
}

/** Headers and body of a request. */
export interface Ask {
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** A string is sent unchanged, other values as JSON. */
  readonly body?: unknown
}

export const SECRET = 'the acceptance tests use a secret of more than thirty-two bytes'
export const PASSWORD = 'a password of this test'

export type Service = Awaited<ReturnType<typeof openService>>

/** An application with the default provider on a database file, behind a real socket. */
export async function openService(
  open: (app: ReturnType<typeof createApp>) => Promise<ServedApp>,
  options: ServiceOptions = {},
) {
  const directory = await mkdtemp(join(tmpdir(), 'mortar-acceptance-'))
  const source = options.source ?? fileSource(join(directory, 'app.db'))
  await source.initialize()
  await source.synchronize()
  const clock = createClock(Date.UTC(2031, 4, 5, 10))
  const mails: { to: string; token: string }[] = []
  const events: { type: string; event: Record<string, unknown> }[] = []
  const app = createApp({ environment: 'test', logger: false, clock, ...options.app })
    .use(database(source))
    .use(auth(basicAuth(settings(source, mails, options)), { policies: POLICIES, ...options.brick }))
    .use(pages())
  for (const type of EVENT_TYPES)
    app.events.typed<AuthEvents>().on(type, (event) => void events.push({ type, event: { ...event } }))
  const served = await open(app)
  return {
    app,
    served,
    clock,
    mails,
    events,
    source,
    send: (method: string, path: string, ask?: Ask) => send(served.url, method, path, ask),
    post: (path: string, body?: unknown, headers?: Ask['headers']) =>
      send(served.url, 'POST', path, { body, ...(headers && { headers }) }),
    async leave() {
      await source.destroy().catch(() => undefined)
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Builds services, as many as a test needs, and closes them after it. Call it in a `describe`. */
export function serviceBuilder(open: Parameters<typeof openService>[0]) {
  const services: Service[] = []
  afterEach(async () => {
    for (const service of services.splice(0)) await service.leave()
  })
  return async (options: ServiceOptions = {}): Promise<Service> => {
    const service = await openService(open, options)
    services.push(service)
    return service
  }
}

/** A connection to the three tables in one file. */
export function fileSource(file: string): DataSource {
  return createDataSource({ type: 'better-sqlite3', database: file, entities: schema })
}

function settings(source: DataSource, mails: { to: string; token: string }[], options: ServiceOptions) {
  return {
    db: source,
    secret: SECRET,
    cost: { memory: 64, passes: 1 },
    sendResetEmail: async (to: string, token: string) => void mails.push({ to, token }),
    ...(options.limited ? {} : { limits: false as const }),
    ...options.auth,
  }
}

const POLICIES = {
  ada: (user: { readonly name?: string }) => user.name === 'Ada',
  truthy: () => 'yes' as never,
  broken: () => {
    throw new Error('a policy that fails')
  },
}

function pages() {
  return createRouter()
    .get('/open', ({ user }) => ({ id: user?.id ?? null }))
    .get('/private', { auth: true }, ({ user }) => user)
    .post('/private', { auth: true }, ({ body }) => body ?? 'none')
    .get('/ada', { auth: 'ada' }, () => 'ada')
    .get('/truthy', { auth: 'truthy' }, () => 'never')
    .get('/broken', { auth: 'broken' }, () => 'never')
    .get('/both', { auth: ['ada', 'truthy'] }, () => 'never')
}

/** One request on a connection of its own. */
export function send(base: string, method: string, path: string, ask: Ask = {}): Promise<Reply> {
  const { body, headers = {} } = ask
  const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  const { hostname, port } = new URL(base)
  const withType = payload !== undefined && !Object.keys(headers).some((name) => /^content-type$/i.test(name))
  const all = {
    ...(withType && { 'content-type': 'application/json' }),
    ...(payload !== undefined && { 'content-length': String(Buffer.byteLength(payload)) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers: all, agent: false }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => resolve(replyOf(incoming, Buffer.concat(chunks).toString())))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}

function replyOf(incoming: IncomingMessage, text: string): Reply {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  const { statusCode = 0, headers, rawHeaders } = incoming
  return {
    status: statusCode,
    headers,
    rawHeaders,
    text,
    body,
    cookies: [headers['set-cookie'] ?? []].flat(),
  }
}

/** Returns `name=value` of the refresh cookie of a response. */
export function cookieOf(reply: Reply): string {
  const [line = ''] = reply.cookies
  return line.split(';')[0]!
}

let number = 0

/** Creates an account. @returns its address, the response and its tokens. */
export async function newcomer(service: Service, more: Record<string, unknown> = {}) {
  const email = `user${++number}@example.com`
  const reply = await service.post('/auth/signup', { name: 'Ada', email, password: PASSWORD, ...more })
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
  return {
    email,
    id: reply.body.user.id as string,
    cookie: cookieOf(reply),
    bearer: { authorization: `Bearer ${reply.body.accessToken}` },
    token: reply.body.accessToken as string,
    reply,
  }
}

/** Resolves when a condition holds; fails after a minute. */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 60_000
  while (!holds()) {
    if (performance.now() > end) throw new Error('It did not happen within a minute.')
    await wait(2)
  }
}

/** The token of the reset mail that an address is sent. */
export async function resetTokenFor(service: Service, email: string): Promise<string> {
  const before = service.mails.length
  await service.post('/auth/forgot-password', { email })
  await until(() => service.mails.length > before)
  return service.mails.at(-1)!.token
}
