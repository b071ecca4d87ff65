/**
 * One process of several on one database: serves the auth endpoints as its first argument (JSON) says, prints where,
 * and ends with its input. `/hashes` counts the argon2 operations, `/mails` lists the reset tokens that were sent, `/links`
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
import { createDataSource, database } from '@mortar/database'
import { limits } from '@mortar/limits'
import { defineSocket, realtime } from '@mortar/realtime'
import { accountCommands } from '../../../../plugins/auth/commands.ts'
import { endingFeatures, entitiesOf } from './ending-features.ts'
import type { MemberOptions } from './fleet.ts'

const options = JSON.parse(process.argv[2]!) as MemberOptions
if (options.skew !== undefined) {
  const { skew } = options
  const now = Date.now.bind(Date)
  Date.now = () => now() + skew
}
// Most processes need neither driver, and half of their start would be spent on both.
const redis = options.redis === undefined ? undefined : new (await import('ioredis')).Redis(options.redis)
const mails: string[] = []
const links: { kind: string; to: string; token: string | undefined }[] = []
let hashes = 0
let aborts = 0
/** Statements until the process is killed. */
let left = Number.POSITIVE_INFINITY

const { verify, hash } = argon2
argon2.verify = (...call) => {
  hashes += 1
  return verify(...call)
}
argon2.hash = ((...call: Parameters<typeof hash>) => {
  hashes += 1
  return hash(...call)
}) as typeof hash

const providerOf = (services: object) =>
  (services as { authProvider: ConnectedPasswordProvider }).authProvider

const COMMANDS = accountCommands('basic')

const settings: PasswordAuthOptions = {
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

const app = createApp({ environment: 'test', logger: false, trustProxy: ['127.0.0.1'] })
if (redis) app.use(limits({ store: redis }))
const closeDatabase = await useDatabase()

/** Registers the provider. @returns a function that closes its database. */
async function useDatabase(): Promise<() => Promise<unknown>> {
  const { connection } = options
  if (connection.type === 'document') {
    const { MongoClient } = await import('mongodb')
    const client = new MongoClient(connection.url)
    app.use(auth(documentAuth({ ...settings, db: client.db(connection.name) })))
    return () => client.close()
  }
  const countDown = {
    logQuery: () => (left -= 1) > 0 || process.kill(process.pid, 'SIGKILL'),
    logQueryError: () => undefined,
  }
  const source = createDataSource({
    ...connection,
    entities: entitiesOf(options.most),
    logging: ['query'],
    logger: countDown as never,
  })
  app.use(database(source)).use(auth(basicAuth(settings)))
  return async () => source.isInitialized && source.destroy()
}

app.use(realtime()).use(
  createRouter()
    .get('/hashes', () => hashes)
    .get('/mails', () => mails)
    .get('/links', () => links)
    .post('/command/:name/:user', async ({ params: { name, user } }) => {
      const values = name === 'delete' ? { yes: true } : {}
      return (await COMMANDS[name]!.run({ positionals: [user], values }, app.services)).json
    })
    .get('/aborts', () => aborts)
    .get('/events', { auth: true }, (ctx) =>
      sse(ctx, async function* ({ signal }) {
        yield 'first'
        await once(signal, 'abort')
        aborts += 1
      }),
    )
    .get(
      '/socket',
      defineSocket({ auth: true }, ({ signal }) => once(signal, 'abort')),
    )
    .post('/die-before/:n', ({ params }) => void (left = Number(params.n)))
    .get('/memory', () => process.memoryUsage().heapUsed)
    .post('/sign-out/:id', ({ params, services }) => providerOf(services).signOut(params.id))
    .post('/disable/:id', async ({ params, services }) => {
      await providerOf(services).disable(params.id)
    }),
)
const { url } = await app.listen(0, '127.0.0.1')
console.log(url)
await process.stdin.resume().toArray()
await app.close()
await closeDatabase()
redis?.disconnect()
