/**
 * A process of several on one database: each scene serves the auth endpoints as its options say.
 * `/hashes` counts the argon2 operations, `/mails` lists the reset tokens that were sent, `/links`
 * lists the mails of features with the tokens of their links, `/command/…` runs a command of `mortar auth` on a user,
 * `/aborts` counts the event streams of `/events` whose signal has aborted. After `/die-before/3` the process is killed
 * before its third statement.
 */
import { once } from 'node:events'
import argon2 from 'argon2'
import { createApp, createRouter, sse } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth, type ConnectedPasswordProvider, type PasswordAuthOptions } from '@mortar/auth/basic'
import { ticket } from '@mortar/auth/ticket'
import { documentAuth } from '@mortar/auth-document'
import { createDataSource, database, type ConnectionOptions } from '@mortar/database'
import { limits } from '@mortar/limits'
import { defineSocket, realtime } from '@mortar/realtime'
import { accountCommands } from '../../../../plugins/auth/commands.ts'
import { playScenes, type Scene } from '../../../support/play-scenes.ts'
import { endingFeatures, entitiesOf } from './ending-features.ts'
import type { MemberOptions } from './fleet.ts'

/** Events of a scene. */
interface Seen {
  readonly mails: string[]
  readonly links: { readonly kind: string; readonly to: string; readonly token: string | undefined }[]
  hashes: number
  aborts: number
  /** Statements until the process is killed. */
  left: number
}

const COMMANDS = accountCommands('basic')

const now = Date.now.bind(Date)
const { verify, hash } = argon2

async function open(options: MemberOptions): Promise<Scene> {
  const seen: Seen = { mails: [], links: [], hashes: 0, aborts: 0, left: Number.POSITIVE_INFINITY }
  const { skew = 0 } = options
  Date.now = () => now() + skew
  countHashes(seen)
  // Most processes need neither driver, and half of their start would be spent on both.
  const redis = options.redis === undefined ? undefined : new (await import('ioredis')).Redis(options.redis)
  const app = createApp({ environment: 'test', logger: false, trustProxy: ['127.0.0.1'] })
  if (redis) app.use(limits({ store: redis }))
  const closeDatabase = await useDatabase(app, options, seen)
  app.use(realtime()).use(routes(app, seen))
  const { url } = await app.listen(0, '127.0.0.1')
  return {
    url,
    async close() {
      await app.close()
      await closeDatabase()
      redis?.disconnect()
    },
  }
}

function countHashes(seen: Seen): void {
  argon2.verify = (...call) => {
    seen.hashes += 1
    return verify(...call)
  }
  argon2.hash = ((...call: Parameters<typeof hash>) => {
    seen.hashes += 1
    return hash(...call)
  }) as typeof hash
}

/** Registers the provider. @returns a function that closes its database. */
async function useDatabase(
  app: ReturnType<typeof createApp>,
  options: MemberOptions,
  seen: Seen,
): Promise<() => Promise<unknown>> {
  const { connection } = options
  const settings = settingsOf(options, seen)
  if (connection.type === 'document') {
    const { MongoClient } = await import('mongodb')
    const client = new MongoClient(connection.url)
    app.use(auth(documentAuth({ ...settings, db: client.db(connection.name) })))
    return () => client.close()
  }
  const countDown = {
    logQuery: () => (seen.left -= 1) > 0 || process.kill(process.pid, 'SIGKILL'),
    logQueryError: () => undefined,
  }
  // Several fleets at the same time share the connections of one server.
  const source = createDataSource({
    ...connection,
    poolSize: 4,
    entities: entitiesOf(options.most),
    logging: ['query'],
    logger: countDown as never,
  } as ConnectionOptions)
  app.use(database(source)).use(auth(basicAuth(settings)))
  return async () => source.isInitialized && source.destroy()
}

function settingsOf(options: MemberOptions, { mails, links }: Seen): PasswordAuthOptions {
  return {
    secret: 'the processes of one fleet share a secret of 32 bytes',
    cost: { memory: options.memory ?? 64, passes: 1 },
    features: [ticket(), ...endingFeatures(options.most)],
    appUrl: 'https://fleet.example.com',
    sendMail: ({ kind, to, link }) => void links.push({ kind, to, token: link?.split('#token=')[1] }),
    sendResetEmail: async (_to, token) => void mails.push(token),
    ...(options.limited ? {} : { limits: false }),
    ...(options.freshSession && { freshSession: true }),
    ...(options.most !== undefined && { maxSessions: options.most }),
  }
}

function routes(app: ReturnType<typeof createApp>, seen: Seen) {
  return createRouter()
    .get('/hashes', () => seen.hashes)
    .get('/mails', () => seen.mails)
    .get('/links', () => seen.links)
    .post('/command/:name/:user', async ({ params: { name, user } }) => {
      const values = name === 'delete' ? { yes: true } : {}
      return (await COMMANDS[name]!.run({ positionals: [user], values }, app.services)).json
    })
    .get('/aborts', () => seen.aborts)
    .get('/events', { auth: true }, (ctx) =>
      sse(ctx, async function* ({ signal }) {
        yield 'first'
        await once(signal, 'abort')
        seen.aborts += 1
      }),
    )
    .get(
      '/socket',
      defineSocket({ auth: true }, ({ signal }) => once(signal, 'abort')),
    )
    .post('/die-before/:n', ({ params }) => void (seen.left = Number(params.n)))
    .get('/memory', () => process.memoryUsage().heapUsed)
    .post('/sign-out/:id', ({ params, services }) => providerOf(services).signOut(params.id))
    .post('/disable/:id', async ({ params, services }) => {
      await providerOf(services).disable(params.id)
    })
}

const providerOf = (services: object) =>
  (services as { authProvider: ConnectedPasswordProvider }).authProvider

await playScenes(open)
