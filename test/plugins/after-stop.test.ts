import { randomBytes } from 'node:crypto'
import { createHook } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
// Koa's http-errors keeps the call stack in which it is loaded: loaded by a start, it would keep that application.
import 'koa'
import { createApp, REQUEST_CHANNEL, routerFor } from 'mortar'
import { JOB_ADDED_CHANNEL, JOB_CHANNEL } from 'mortar/kit'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as authTables from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import * as jobTables from '@mortar/jobs/schema'
import { limits } from '@mortar/limits'
import * as limitTables from '@mortar/limits/schema'
import { mail } from '@mortar/mail'
import { metrics } from '@mortar/metrics'
import { redis } from '@mortar/redis'
import { tracing } from '@mortar/tracing'
import { webhooks } from '@mortar/webhooks'
import * as webhookTables from '@mortar/webhooks/schema'
import { recorder } from '../app/recorder.ts'
import { countKept } from '../support/collect-garbage.ts'
import { DIRECTORY } from './jobs/applications.ts'
import { ENGINES } from './jobs/engines.ts'
import recordJob, { record } from './jobs/jobs/record.ts'
import { invoicePaid, LOCAL } from './webhooks/events.ts'
import { startReceiver } from './webhooks/receiver.ts'

const TABLES = [authTables, jobTables, limitTables, webhookTables]
const REDIS = process.env['TEST_REDIS_URL']
/** Channels of a process, which its applications share. */
const CHANNELS = [
  JOB_ADDED_CHANNEL,
  ...[REQUEST_CHANNEL, JOB_CHANNEL].flatMap((name) =>
    ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((event) => `tracing:${name}:${event}`),
  ),
]
const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a long password of Ada' }

/** Timers that Node itself makes: the date of its HTTP server, and those of AbortSignal.timeout(). */
const OF_NODE = /node:internal\/abort_controller|node:_http/

/** Notes the timers of the framework and its bricks, each with the place that has started it. */
function noteTimers(timers: Map<object, string>) {
  return createHook({
    init(_id, type, _trigger, timer) {
      if (type !== 'Timeout') return
      const { stack = '' } = new Error('here')
      const [place] = /(?:plugins|src)\/[\w/-]+\.ts:\d+/.exec(stack.replaceAll(/\/test\/\S+/g, '')) ?? []
      if (place !== undefined && !OF_NODE.test(stack)) timers.set(timer, place)
    },
  })
}

/** The places of timers that will still fire. */
function waiting(timers: ReadonlyMap<object, string>): readonly string[] {
  const isOver = (timer: object): boolean => (timer as { readonly _destroyed?: boolean })._destroyed === true
  return [...timers].filter(([timer]) => !isOver(timer)).map(([, place]) => place)
}

/** The listeners of the process and of its channels. */
function listeners(): Readonly<Record<string, number | boolean>> {
  const ofProcess = process.eventNames().map((event) => [String(event), process.listenerCount(event)])
  return Object.fromEntries([...ofProcess, ...CHANNELS.map((name) => [name, channel(name).hasSubscribers])])
}

const stopped: WeakRef<object>[] = []

for (const [kind, prepare] of Object.entries(ENGINES))
  describe(`an application with every brick that has stopped: ${kind}`, () => {
    const place = prepare()

    function appWith(lines: string[]) {
      const app = createApp({
        environment: 'development',
        logger: recorder(lines),
        logRequests: false,
        signals: false,
      })
        .use(database(place().options(TABLES)))
        .use(limits({ store: 'database' }))
        .use(mail({ transport: 'memory', from: 'notes@example.com' }))
        .use(auth(basicAuth({ secret: randomBytes(32).toString('base64url') })))
        .use(metrics())
        .use(tracing())
        .use(jobs({ directory: DIRECTORY, ...place().settings }))
        .use(webhooks({ events: [invoicePaid], ...LOCAL }))
      if (REDIS !== undefined) app.use(redis({ url: REDIS }))
      return app.use(
        routerFor<typeof app>()
          .get('/limited', { limit: { limit: 10, window: '1m', by: 'ip' } }, () => 'in')
          .get('/mine', { auth: true }, ({ user }) => user.id),
      )
    }

    async function use(app: ReturnType<typeof appWith>): Promise<void> {
      const receiver = await startReceiver()
      await app.ready()
      const post = (url: string, body: object) =>
        app.inject({ method: 'POST', url, payload: body, headers: { 'sec-fetch-site': 'same-origin' } })
      const { statusCode } = await post('/auth/signup', ADA)
      await post('/auth/forgot-password', { email: ADA.email })
      for (const url of ['/limited', '/mine', '/metrics', '/readyz']) await app.inject({ method: 'GET', url })
      const { services } = app
      await services.webhooks.endpointsOf('ada').add({ url: receiver.url })
      await services.webhooks.send(invoicePaid, { invoice: '1' }, { owner: 'ada' })
      record.length = 0
      await services.jobs.add(recordJob, { text: 'used', failures: 0 })
      while (record.length === 0 || receiver.received.length === 0) await wait(5)
      await receiver.close()
      expect(statusCode).to.equal(201)
    }

    beforeEach(() => place().makeTables(TABLES))

    /** Uses an application and stops it. Nothing of the frame of this function may hold it afterwards. */
    async function useAndStop(lines: string[]): Promise<number> {
      const app = appWith(lines)
      await use(app)
      expect(channel(`tracing:${REQUEST_CHANNEL}:start`).hasSubscribers).to.equal(true)
      await app.close()
      stopped.push(new WeakRef(app))
      return lines.length
    }

    it('has no timer, no listener and no further line in the log', async () => {
      const lines: string[] = []
      const timers = new Map<object, string>()
      const before = listeners()
      const hook = noteTimers(timers).enable()
      const logged = await useAndStop(lines)
      hook.disable()
      // Sockets end a moment later than their pool.
      for (let waits = 0; waiting(timers).length > 0 && waits < 3000; waits++) await wait(20)
      expect(waiting(timers)).to.deep.equal([])
      expect(listeners()).to.deep.equal(before)
      expect(lines.slice(logged)).to.deep.equal([])
      expect(lines.filter((line) => /^(?:warn|error)/.test(line))).to.deep.equal([])
    })
  })

describe('applications that have stopped', () => {
  it('are not kept in memory', async () => {
    expect(await countKept(stopped)).to.equal(0)
  })
})
