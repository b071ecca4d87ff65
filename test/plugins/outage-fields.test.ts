import { EventEmitter } from 'node:events'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, type Limiter } from 'mortar'
import { describeError, systemClock } from 'mortar/kit'
import { createClient } from 'mortar/testing'
import { limits } from '@mortar/limits'
import { logAuthEvents } from '../../plugins/auth/events/log-events.ts'
import { createAuditWriter } from '../../plugins/auth/features/audit/audit-writer.ts'
import { clearAfterNewPassword } from '../../plugins/auth/flows/sessions.ts'
import { tell } from '../../plugins/auth/flows/admit.ts'
import { createRegistry } from '../../plugins/jobs/registry.ts'
import { runJob } from '../../plugins/jobs/run-job.ts'
import { lookRegularly } from '../../plugins/jobs/look-regularly.ts'
import { Follower } from '../../plugins/realtime/channels/follower.ts'
import { Sender } from '../../plugins/realtime/channels/redis-sender.ts'
import { keptLog } from './jobs/applications.ts'

const AWAY = Object.assign(new Error('away'), { code: 'ECONNREFUSED', isOutage: true })
const away = () => Promise.reject(AWAY)

/** Methods that keep the fields of each failure. */
function recorder() {
  const kept: unknown[] = []
  const keep = ({ part, fields }: { readonly part: string; readonly fields?: object }) =>
    void kept.push({ part, ...fields })
  return { kept, outages: { begin: keep, log: keep, end: () => undefined } }
}
type Recorder = ReturnType<typeof recorder>['outages']

/** Lets a part fail, and the fields of its line. */
const PARTS: Readonly<Record<string, readonly [fail: (outages: Recorder) => unknown, fields: object]>> = {
  jobs: [
    async (outages) => {
      const regular = lookRegularly(away, outages)
      regular.start()
      await nextTurn()
      await regular.stop()
    },
    { brick: 'jobs', err: describeError(AWAY) },
  ],
  channels: [
    async (outages) => {
      const follower = new Follower({ engine: { pause: 100, read: away }, outages } as never)
      follower.start({ epoch: 'a', at: 0, time: 0 })
      follower.wake()
      await nextTurn()
      await follower.stop()
    },
    { brick: 'channels' },
  ],
  publications: [
    async (outages) => {
      const sender = new Sender(
        mock.fn(async () => undefined, away, { times: 1 }),
        outages,
      )
      await sender.publish({ channel: 'news', event: 'count', data: '1', keep: 1 }, true)
    },
    { brick: 'channels' },
  ],
  limits: [
    async (outages) => {
      const client = { status: 'ready', defineCommand: () => undefined, rlflxIncr: away }
      const app = await createApp({ logger: false })
        .use(limits({ store: client }))
        .ready()
      mock.method(app.services.outages, 'begin', outages.begin)
      await app.container.resolve<Limiter>('limiter').consume('a', { limit: 3, window: '1h' })
      await app.close()
    },
    { brick: 'limits', error: 'Error', code: 'ECONNREFUSED' },
  ],
  'check db': [
    async (outages) => {
      const app = await createApp({ logger: false }).check('db', { run: away }).ready()
      mock.method(app.services.outages, 'begin', outages.begin)
      await createClient(app).get('/readyz')
      await app.close()
    },
    { check: 'db', err: describeError(AWAY) },
  ],
  'auth.mail.failed': [
    (outages) => {
      const events = new EventEmitter()
      logAuthEvents(events as never, { outages } as never, Buffer.alloc(32))
      events.emit('auth.mail.failed', { error: 'away', ip: '127.0.0.1', userId: 'ada', kind: 'reset' })
    },
    { event: 'auth.mail.failed', address: '127.0.0.1', userId: 'ada', kind: 'reset' },
  ],
  'clean-up of sessions': [
    (outages) => {
      const store = { findEndedSessions: away, deleteResetTokens: async () => 0 }
      return clearAfterNewPassword({ store, unfinished: new Set(), outages } as never, 'ada')
    },
    { userId: 'ada' },
  ],
  audit: [
    (outages) => {
      const mails = { later: (work: () => unknown) => work() }
      const kit = { clock: systemClock, mails, outages } as never
      const writer = createAuditWriter(kit, { insert: away } as never, 1000)
      writer.write('auth.signup.succeeded', {})
      return writer.settled()
    },
    { lost: 1 },
  ],
  'job send': [
    (outages) => {
      mock.method(performance, 'now', () => 0)
      const registry = createRegistry()
      registry.define('send', away)
      const engine = { settle: async () => true }
      const parts = {
        engine,
        services: { outages },
        logger: keptLog().logger,
        stopping: new AbortController().signal,
      }
      const claimed = { id: 'job-1', name: 'send', data: 'null', attempt: 1 }
      return runJob(claimed as never, registry.find('send')!, parts as never)
    },
    { job: 'send', jobId: 'job-1', outcome: 'repeated', ms: 0 },
  ],
  'auth feature afterLogin': [
    (outages) => tell({ features: [{}], outages }, 'afterLogin' as never, away),
    { point: 'afterLogin' },
  ],
}

describe('The log line of an outage', () => {
  afterEach(() => mock.reset())

  for (const [part, [fail, fields]] of Object.entries(PARTS))
    it(`has the fields of ${part}`, async () => {
      const { kept, outages } = recorder()
      await fail(outages)
      expect(kept).to.deep.equal([{ part, ...fields }])
    })
})
