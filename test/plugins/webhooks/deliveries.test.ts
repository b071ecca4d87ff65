import { mock } from 'node:test'
import { expect } from 'chai'
import { type EntityManager, UpdateQueryBuilder } from 'typeorm'
import { testJobs } from '@mortar/jobs/testing'
import * as jobsSchema from '@mortar/jobs/schema'
import { webhooks, type WebhooksOptions } from '@mortar/webhooks'
import * as webhooksSchema from '@mortar/webhooks/schema'
import { readOptions } from '../../../plugins/webhooks/options.ts'
import { deliver } from '../../../plugins/webhooks/sending/deliver.ts'
import { deferred } from '../../support/deferred.ts'
import { UNREADABLE } from '../../support/unreadable-error.ts'
import { KINDS } from '../database/databases.ts'
import { jobsApp, winterClock } from '../jobs/applications.ts'
import { invoicePaid, LOCAL } from './events.ts'
import { startReceiver } from './receiver.ts'

const DATA = { invoice: 'invoice 1001' }
const SCHEMA = [jobsSchema, webhooksSchema]
const MONTH = 30 * 86_400_000

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`deliveries of webhooks: ${kind}`, () => {
    const place = prepare()
    const clock = winterClock()
    const makeApp = (options: Partial<WebhooksOptions>) =>
      jobsApp(place().options(SCHEMA), {}, { clock }).use(
        webhooks({ events: [invoicePaid], ...LOCAL, ...options }),
      )
    type WebhooksApp = ReturnType<typeof makeApp>
    let apps: WebhooksApp[]
    let receiver: Awaited<ReturnType<typeof startReceiver>>
    const started = async (options: Partial<WebhooksOptions> = {}): Promise<WebhooksApp> => {
      const app = makeApp(options)
      apps.push(app)
      await app.ready()
      return app
    }
    const run = (app: WebhooksApp): Promise<unknown> =>
      testJobs(app)
        .run()
        .catch(() => undefined)
    const send = ({ services }: WebhooksApp): Promise<unknown> =>
      services.webhooks.send(invoicePaid, DATA, { owner: 'ada' })
    const respondWith = (status: number): void => {
      receiver.behaviour.respond = (_request, response) => void response.writeHead(status).end()
    }

    beforeEach(async () => {
      apps = []
      await (await place().open(SCHEMA)).synchronize()
      receiver = await startReceiver()
    })
    afterEach(async () => {
      await Promise.all(apps.map((app) => app.close()))
      await receiver.close()
    })

    it('do not disable an endpoint that one of another process has reached meanwhile', async () => {
      const [one, other] = [await started({ disableAfter: 1 }), await started({ disableAfter: 1 })]
      const ada = one.services.webhooks.endpointsOf('ada')
      await ada.add({ url: receiver.url })
      respondWith(500)
      await send(one)
      await run(one)
      await send(one)
      const asked = new Promise<() => void>((resolve) => {
        receiver.behaviour.respond = (_request, response) => resolve(() => response.writeHead(500).end())
      })
      const running = run(one)
      const fail = await asked
      respondWith(204)
      await send(other)
      await run(other)
      fail()
      await running
      expect((await ada.list())[0]).to.include({ failures: 1, disabledAt: undefined })
    })

    it('forget failures that another process has counted while one succeeds', async () => {
      const [one, other] = [await started(), await started()]
      const ada = one.services.webhooks.endpointsOf('ada')
      await ada.add({ url: receiver.url })
      await send(one)
      const asked = new Promise<() => void>((resolve) => {
        receiver.behaviour.respond = (_request, response) => resolve(() => response.writeHead(204).end())
      })
      const running = run(one)
      const succeed = await asked
      respondWith(500)
      await send(other)
      await run(other)
      expect((await ada.list())[0]).to.include({ failures: 1 })
      succeed()
      await running
      expect((await ada.list())[0]).to.include({ failures: 0 })
    })

    it('that wait are sent again once their job must be lost, and not beside it', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      respondWith(500)
      await send(app)
      await run(app)
      const [delivery] = await ada.deliveries(id)
      await ada.redeliver(id, delivery!.id)
      const rows = app.services.db.getRepository(jobsSchema.MortarJobs)
      const count = (): Promise<number> => rows.countBy({ name: 'webhooks:deliver' })
      expect(await count()).to.equal(1)
      await rows.clear()
      clock.advance('119m')
      await ada.redeliver(id, delivery!.id)
      expect(await count()).to.equal(0)
      clock.advance('1m')
      respondWith(204)
      await Promise.all([ada.redeliver(id, delivery!.id), ada.redeliver(id, delivery!.id)])
      expect(await count()).to.equal(1)
      await run(app)
      expect((await ada.deliveries(id)).map(({ state }) => state)).to.deep.equal(['delivered'])
    })

    it('are not sent again if another call has changed them since they were read', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await send(app)
      await run(app)
      const [delivery] = await ada.deliveries(id)
      const { db, jobs } = app.services
      const transaction = db.transaction.bind(db) as (
        work: (tx: EntityManager) => unknown,
      ) => Promise<unknown>
      db.transaction = ((work: (tx: EntityManager) => unknown) =>
        transaction((tx) => {
          const findOneBy = tx.findOneBy.bind(tx)
          tx.findOneBy = async (entity, where) => {
            const found = await findOneBy(entity, where)
            await tx.update(
              webhooksSchema.MortarWebhookDeliveries,
              { id: delivery!.id },
              { state: 'waiting' },
            )
            return found
          }
          return work(tx)
        })) as never
      await ada.redeliver(id, delivery!.id)
      expect(await jobs.list()).to.deep.equal([])
    })

    it('keep the response that was complete when the process stopped', async () => {
      const app = await started()
      const { db, events } = app.services
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await send(app)
      respondWith(500)
      await run(app)
      respondWith(204)
      const [delivery] = await ada.deliveries(id)
      const stopping = new AbortController()
      const places = { occupy: () => () => stopping.abort(new Error('The process stops.')) }
      const settings = readOptions({ events: [invoicePaid], ...LOCAL })
      const attempt = { signal: stopping.signal, isLast: false }
      const failure = await deliver(delivery!.id, attempt, { db, clock, events, settings, places }).catch(
        (error: Error) => error,
      )
      expect(failure).to.equal(undefined)
      expect((await ada.deliveries(id)).map(({ state }) => state)).to.deep.equal(['delivered'])
    })

    it('fail as a job when the failures of their endpoint cannot be forgotten', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      await ada.add({ url: receiver.url })
      await send(app)
      const { execute } = UpdateQueryBuilder.prototype
      mock.method(UpdateQueryBuilder.prototype, 'execute', function update(this: UpdateQueryBuilder<object>) {
        const isEndpoint = this.expressionMap.mainAlias?.name === 'mortar_webhook_endpoints'
        return isEndpoint ? Promise.reject(new Error('away')) : execute.call(this)
      })
      const failure = await testJobs(app).run().catch(String)
      mock.reset()
      expect(failure).to.be.a('string').and.include('away')
    })

    it('have the dates of the clock, and so have their endpoints', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      const after = async (work: Promise<unknown>): Promise<Date> => {
        await work
        clock.advance('1h')
        return new Date(clock.now() - 3_600_000)
      }
      const createdAt = await after(ada.add({ url: receiver.url }))
      const { id } = (await ada.list())[0]!
      const sentAt = await after(send(app).then(() => run(app)))
      const [delivery] = await ada.deliveries(id)
      const updatedAt = await after(ada.redeliver(id, delivery!.id))
      const disabledAt = await after(ada.disable(id))
      expect((await ada.list())[0]).to.deep.include({ createdAt, disabledAt })
      expect((await ada.deliveries(id))[0]).to.deep.include({ createdAt: sentAt, updatedAt })
    })

    it('stay delivered if an attempt of a process that stood still fails later', async () => {
      const [one, other] = [await started(), await started()]
      const ada = one.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await send(one)
      const asked = new Promise<() => void>((resolve) => {
        receiver.behaviour.respond = (_request, response) => resolve(() => response.writeHead(500).end())
      })
      const running = run(one)
      const fail = await asked
      clock.advance('1m')
      respondWith(204)
      await run(other)
      fail()
      await running
      expect(receiver.received).to.have.lengthOf(2)
      expect((await ada.deliveries(id)).map(({ state }) => state)).to.deep.equal(['delivered'])
    })

    it('are delivered if an attempt succeeds late, after the last one of another process has failed', async () => {
      const [one, other] = [await started({ attempts: 2 }), await started({ attempts: 2 })]
      const ada = one.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await send(one)
      const asked = deferred<() => void>()
      receiver.behaviour.respond = (_request, response) => asked.resolve(() => response.writeHead(204).end())
      const running = run(one)
      const accept = await asked.promise
      clock.advance('1m')
      respondWith(500)
      await run(other)
      expect(await ada.deliveries(id, { state: 'failed' })).to.have.lengthOf(1)
      accept()
      await running
      expect((await ada.deliveries(id)).map(({ state }) => state)).to.deep.equal(['delivered'])
    })

    it('end with the endpoint if it is removed meanwhile', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await send(app)
      receiver.behaviour.respond = (_request, response) =>
        void ada.remove(id).then(() => response.writeHead(500).end())
      expect(await testJobs(app).run()).to.equal(2)
      expect(await app.services.jobs.list()).to.deep.equal([])
    })

    it('may take as long as their time limit, also if it is long', async () => {
      const app = await started({ timeout: '10m' })
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await send(app)
      receiver.behaviour.respond = (_request, response) => {
        mock.timers.tick(360_000)
        response.writeHead(204).end()
      }
      const { clearTimeout: clearReal } = globalThis
      mock.timers.enable({ apis: ['setTimeout'] })
      const { clearTimeout: clearMocked } = globalThis
      // A timer that the pool of connections has set before is real.
      globalThis.clearTimeout = (timer) => {
        clearReal(timer)
        clearMocked(timer)
      }
      try {
        await testJobs(app).run()
      } finally {
        mock.timers.reset()
      }
      expect((await ada.deliveries(id)).map(({ state }) => state)).to.deep.equal(['delivered'])
    })

    it('are deleted from the log when they are old', async () => {
      const app = await started({ keep: '1d' })
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      for (let count = 0; count < 3; count++) {
        await send(app)
        await run(app)
        clock.advance('20h')
      }
      expect(await ada.deliveries(id)).to.have.lengthOf(2)
    })

    it('are deleted from the log also when a clock that was far ahead is right', async () => {
      const app = await started({ keep: '1d' })
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await send(app)
      await run(app)
      clock.set(clock.now() + MONTH)
      await send(app)
      await run(app)
      clock.set(clock.now() - MONTH)
      await send(app)
      await run(app)
      clock.advance('2d')
      await send(app)
      await run(app)
      // That of the wrong clock is young, and the one before it was deleted by that clock.
      expect(await ada.deliveries(id)).to.have.lengthOf(2)
    })

    it('are kept while they wait, for example because no process has run for days', async () => {
      const app = await started({ keep: '1d' })
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      respondWith(500)
      for (let count = 0; count < 2; count++) await send(app)
      await run(app)
      clock.advance('3d')
      respondWith(204)
      await run(app)
      expect((await ada.deliveries(id)).map(({ state }) => state)).to.deep.equal(['delivered', 'delivered'])
    })

    for (const [name, lookup] of [
      ['rejects with an error that cannot be read', () => Promise.reject(UNREADABLE)],
      ['rejects with null', () => Promise.reject(null)],
      [
        'throws an error that cannot be read',
        () => {
          throw UNREADABLE
        },
      ],
    ] as const)
      it(`count an attempt whose look-up of the name ${name}`, async () => {
        const app = await started({ lookup })
        const ada = app.services.webhooks.endpointsOf('ada')
        const { id } = await ada.add({ url: 'https://hooks.example.com/' })
        await send(app)
        await run(app)
        const [delivery] = await ada.deliveries(id)
        expect(delivery).to.include({ state: 'waiting', attempts: 1, error: 'The connection failed.' })
        expect((await ada.list())[0]).to.include({ failures: 1 })
      })

    it('are deleted a month later although they wait, as one without a job does for ever', async () => {
      const app = await started({ keep: '1d' })
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      const states = async (): Promise<readonly string[]> =>
        (await ada.deliveries(id)).map(({ state }) => state).toSorted()
      respondWith(500)
      await send(app)
      await run(app)
      await app.services.db.getRepository(jobsSchema.MortarJobs).clear()
      respondWith(204)
      clock.advance('30d')
      await send(app)
      await run(app)
      expect(await states()).to.deep.equal(['delivered', 'waiting'])
      clock.advance('2d')
      await send(app)
      await run(app)
      expect(await states()).to.deep.equal(['delivered'])
    })
  })
