import { expect } from 'chai'
import { testJobs } from '@mortar/jobs/testing'
import * as jobsSchema from '@mortar/jobs/schema'
import { webhookEvent, webhooks, type WebhookEvents, type WebhooksOptions } from '@mortar/webhooks'
import * as webhooksSchema from '@mortar/webhooks/schema'
import { object, string } from 'mortar/yup'
import { Webhook } from 'standardwebhooks'
import type { ConnectionOptions } from '@mortar/database'
import { databaseEngine } from '../../../plugins/jobs/database/engine.ts'
import { KINDS } from '../database/databases.ts'
import { jobsApp, keptLog, winterClock } from '../jobs/applications.ts'
import { invoicePaid, LOCAL } from './events.ts'
import { startReceiver } from './receiver.ts'

const noteShared = webhookEvent('note.shared', object({ note: string() }))
const DATA = { invoice: 'invoice 1001' }
const SCHEMA = [jobsSchema, webhooksSchema]
const OPTIONS: WebhooksOptions = {
  events: [invoicePaid, noteShared],
  attempts: 3,
  disableAfter: 4,
  disableOver: '1h',
  ...LOCAL,
}

function webhooksApp(connection: ConnectionOptions, options: Partial<WebhooksOptions>, settings: object) {
  return jobsApp(connection, {}, settings).use(webhooks({ ...OPTIONS, ...options }))
}
type WebhooksApp = ReturnType<typeof webhooksApp>

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`webhooks of customers: ${kind}`, () => {
    const place = prepare()
    const clock = winterClock()
    let apps: WebhooksApp[]
    let receiver: Awaited<ReturnType<typeof startReceiver>>
    let log: ReturnType<typeof keptLog>
    const started = async (options: Partial<WebhooksOptions> = {}): Promise<WebhooksApp> => {
      const app = webhooksApp(place().options(SCHEMA), options, { clock, logger: log.logger })
      apps.push(app)
      await app.ready()
      return app
    }

    beforeEach(async () => {
      apps = []
      log = keptLog()
      await (await place().open(SCHEMA)).synchronize()
      receiver = await startReceiver()
    })
    afterEach(async () => {
      await Promise.all(apps.map((app) => app.close()))
      await receiver.close()
    })
    const respondWith = (status: number): void => {
      receiver.behaviour.respond = (_request, response) => void response.writeHead(status).end()
    }

    it('sends an event to the endpoints of its owner that want it, signed with their secrets', async () => {
      const app = await started()
      const service = app.services.webhooks
      const ada = service.endpointsOf('ada')
      const { id, secret } = await ada.add({ url: receiver.url })
      await ada.add({ url: receiver.url, events: ['note.shared'] })
      await service.endpointsOf('bob').add({ url: receiver.url })
      const sent = await service.send(invoicePaid, DATA, { owner: 'ada' })
      await testJobs(app).run()
      expect(receiver.received).to.have.lengthOf(1)
      // Receivers may keep it as a token of letters and digits (Standard Webhooks).
      expect(sent.id).to.match(/^msg_[\da-f]{32}$/)
      const { headers, body } = receiver.received[0]!
      expect(headers).to.include({ 'webhook-id': sent.id, 'content-type': 'application/json' })
      expect(JSON.parse(body)).to.deep.equal({
        type: 'invoice.paid',
        timestamp: '2026-01-15T12:00:00.000Z',
        data: DATA,
      })
      const signature = new Webhook(secret).sign(sent.id, new Date(clock.now()), body)
      expect(headers['webhook-signature']).to.equal(signature)
      expect(await ada.deliveries(id)).to.have.lengthOf(1)
      expect((await ada.deliveries(id))[0]).to.include({
        message: sent.id,
        state: 'delivered',
        attempts: 1,
        status: 204,
      })
      expect(JSON.stringify(log.lines)).not.to.contain(DATA.invoice).and.not.contain(secret)
    })

    it('sends with the commit of a transaction, and never after its rollback', async () => {
      const app = await started()
      const { db, webhooks: service } = app.services
      await service.endpointsOf('ada').add({ url: receiver.url })
      await db
        .transaction(async (tx) => {
          await service.send(invoicePaid, DATA, { owner: 'ada', tx })
          throw new Error('rollback')
        })
        .catch(() => undefined)
      expect(await testJobs(app).run()).to.equal(0)
      await db.transaction((tx) => service.send(invoicePaid, DATA, { owner: 'ada', tx }))
      await testJobs(app).run()
      expect(receiver.received).to.have.lengthOf(1)
    })

    it('repeats a delivery with the same id, and ends it as failed without a failed job', async () => {
      const app = await started()
      const service = app.services.webhooks
      const ada = service.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      await service.send(invoicePaid, DATA, { owner: 'ada' })
      respondWith(302)
      for (let count = 0; count < 5; count++) {
        await testJobs(app)
          .run()
          .catch(() => undefined)
        clock.advance('1h')
      }
      expect(receiver.received).to.have.lengthOf(3)
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1)
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size).to.equal(3)
      const [delivery] = await ada.deliveries(id, { state: 'failed' })
      expect(delivery).to.include({
        attempts: 3,
        status: 302,
        error: 'Status 302, and redirects are not followed.',
      })
      expect(await app.services.jobs.list()).to.deep.equal([])
      respondWith(200)
      await ada.redeliver(id, delivery!.id)
      await ada.redeliver(id, delivery!.id)
      await testJobs(app).run()
      expect(receiver.received).to.have.lengthOf(4)
      expect((await ada.deliveries(id))[0]).to.include({ state: 'delivered', error: undefined })
      expect(await ada.list()).to.have.nested.property('[0].failures', 0)
    })

    it('logs one line for all deliveries to an endpoint that fails', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      const endpoints = await Promise.all([ada.add({ url: receiver.url }), ada.add({ url: receiver.url })])
      respondWith(500)
      for (let count = 0; count < 3; count++)
        await app.services.webhooks.send(invoicePaid, DATA, { owner: 'ada' })
      await testJobs(app)
        .run()
        .catch(() => undefined)
      const failed = log.lines.filter(({ text }) => text.startsWith('Job failed'))
      for (const { id } of endpoints)
        expect(failed.filter(({ text }) => text.includes(id)).length, JSON.stringify(failed)).to.equal(1)
    })

    it('delivers again with the same id after a process has died between sending and storing', async () => {
      const one = await started()
      const other = await started()
      await one.services.webhooks.endpointsOf('ada').add({ url: receiver.url })
      await one.services.webhooks.send(invoicePaid, DATA, { owner: 'ada' })
      // A process that has claimed both jobs, and spread the message, ends without a word.
      const dead = databaseEngine(one.services.db, () => clock.now())
      const [send] = await dead.claim(['webhooks:send'], 1)
      clock.advance('1m')
      respondWith(500)
      await testJobs(other)
        .run()
        .catch(() => undefined)
      expect(receiver.received).to.have.lengthOf(1)
      clock.advance('10s')
      const [lost] = await dead.claim(['webhooks:deliver'], 1)
      expect([send?.attempt, lost?.attempt]).to.deep.equal([1, 2])
      respondWith(204)
      clock.advance('1m')
      await Promise.all([testJobs(one).run(), testJobs(other).run()])
      expect(receiver.received).to.have.lengthOf(2)
      const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
      expect(ids[0]).to.equal(ids[1])
    })

    it('adds one delivery for an endpoint if the message is spread twice', async () => {
      const app = await started()
      const { jobs, db, webhooks: service } = app.services
      await service.endpointsOf('ada').add({ url: receiver.url })
      await service.send(invoicePaid, DATA, { owner: 'ada' })
      const [job] = await jobs.list()
      const row = await db.getRepository(jobsSchema.MortarJobs).findOneByOrFail({ id: job!.id })
      await db.getRepository(jobsSchema.MortarJobs).insert({ ...row, id: 'again' })
      await testJobs(app).run()
      expect(receiver.received).to.have.lengthOf(1)
    })

    it('disables an endpoint that fails for long, or is gone, with one event, until it is enabled', async () => {
      const app = await started()
      const other = await started()
      const service = app.services.webhooks
      const ada = service.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      const disabled: object[] = []
      for (const { events } of apps)
        events.typed<WebhookEvents>().on('webhooks.endpoint.disabled', (event) => disabled.push(event))
      respondWith(500)
      const fail = async (): Promise<void> => {
        await service.send(invoicePaid, DATA, { owner: 'ada' })
        await testJobs(app)
          .run()
          .catch(() => undefined)
      }
      await fail()
      clock.advance('2h')
      respondWith(204)
      await testJobs(app).run()
      respondWith(500)
      for (let count = 0; count < 6; count++) await fail()
      // So many failures, but not yet for an hour.
      expect(disabled).to.deep.equal([])
      clock.advance('1h')
      await testJobs(app)
        .run()
        .catch(() => undefined)
      expect(disabled).to.deep.equal([{ endpoint: id, owner: 'ada', reason: 'failures' }])
      const count = receiver.received.length
      const logged = (await ada.deliveries(id)).length
      clock.advance('2h')
      await fail()
      expect(receiver.received).to.have.lengthOf(count)
      const states = (await ada.deliveries(id)).map(({ state }) => state)
      expect(states).to.have.lengthOf(logged)
      expect(states.filter((state) => state !== 'failed')).to.deep.equal(['delivered'])

      await ada.enable(id)
      for (let again = 0; again < 5; again++) await fail()
      // Failures from before it was enabled do not count.
      expect(disabled).to.have.lengthOf(1)
      const sent = receiver.received.length
      const waiting: (() => void)[] = []
      receiver.behaviour.respond = (_request, response) => {
        if (waiting.push(() => response.writeHead(410).end()) === 2) for (const respond of waiting) respond()
      }
      for (const process of apps) await process.services.webhooks.send(invoicePaid, DATA, { owner: 'ada' })
      await Promise.all([testJobs(app).run(), testJobs(other).run()])
      expect(receiver.received).to.have.lengthOf(sent + 2)
      expect(disabled).to.have.lengthOf(2)
      expect(disabled[1]).to.include({ reason: 'gone' })
      expect((await ada.list())[0]!.disabledAt).to.be.instanceOf(Date)
    })

    it('signs with both secrets during a rotation, and with the new one after it', async () => {
      const app = await started()
      const service = app.services.webhooks
      const ada = service.endpointsOf('ada')
      const { id, secret: old } = await ada.add({ url: receiver.url })
      const { secret } = await ada.rotate(id, { overlap: '1h' })
      for (const wait of ['59m', '1m'] as const) {
        await service.send(invoicePaid, DATA, { owner: 'ada' })
        await testJobs(app).run()
        clock.advance(wait)
      }
      await service.send(invoicePaid, DATA, { owner: 'ada' })
      await testJobs(app).run()
      const by = receiver.received.map(({ headers, body }) =>
        [old, secret].map((each) => {
          const time = new Date(Number(headers['webhook-timestamp']) * 1000)
          const signature = new Webhook(each).sign(String(headers['webhook-id']), time, body)
          return String(headers['webhook-signature']).split(' ').includes(signature)
        }),
      )
      expect(by).to.deep.equal([
        [true, true],
        [true, true],
        [false, true],
      ])
    })

    it('changes the address or the events of an endpoint, and leaves the other alone', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url, events: ['note.shared'] })
      await ada.update(id, { url: `${receiver.url}/new` })
      expect((await ada.list())[0]).to.deep.include({ url: `${receiver.url}/new`, events: ['note.shared'] })
      await ada.update(id, { url: undefined as never, events: undefined })
      expect((await ada.list())[0]).to.deep.include({ url: `${receiver.url}/new`, events: undefined })
    })

    it('keeps the endpoints of customers apart', async () => {
      const app = await started()
      const service = app.services.webhooks
      const [ada, eve] = [service.endpointsOf('ada'), service.endpointsOf('Ada')]
      const { id } = await ada.add({ url: receiver.url })
      await service.send(invoicePaid, DATA, { owner: 'ada' })
      await testJobs(app).run()
      const [delivery] = await ada.deliveries(id)
      const attacks = [
        () => eve.update(id, { url: 'https://eve.example.com' }),
        () => eve.remove(id),
        () => eve.rotate(id),
        () => eve.enable(id),
        () => eve.disable(id),
        () => eve.deliveries(id),
        () => eve.redeliver(id, delivery!.id),
      ]
      for (const attack of attacks) {
        const error = await Promise.resolve(attack()).catch((caught: unknown) => caught)
        expect(error).to.include({ status: 404, code: 'webhook_not_found' })
      }
      const own = await eve.add({ url: receiver.url })
      const error = await eve.redeliver(own.id, delivery!.id).catch((caught: unknown) => caught)
      expect(error).to.include({ code: 'webhook_not_found' })
      await ada.remove(id)
      expect(await app.services.db.getRepository(webhooksSchema.MortarWebhookDeliveries).count()).to.equal(0)
    })

    it('refuses wrong data, events and addresses', async () => {
      const app = await started({ http: false, allowNetworks: [] })
      const service = app.services.webhooks
      const ada = service.endpointsOf('ada')
      const failure = (work: Promise<unknown>) => work.catch((caught: unknown) => caught)
      const invalid = await failure(service.send(invoicePaid, { invoice: 'x'.repeat(21) }, { owner: 'ada' }))
      expect(invalid)
        .to.include({ name: 'InvalidWebhookData' })
        .and.have.property('message')
        .not.contain('xxx')
      const unknown = webhookEvent('unknown', object({ note: string() }))
      expect(await failure(service.send(unknown, {}, { owner: 'ada' }))).to.include({
        name: 'InvalidWebhookData',
      })
      const long = { note: 'x'.repeat(262_144) }
      expect(await failure(service.send(noteShared, long, { owner: 'ada' }))).to.include({
        name: 'InvalidWebhookData',
      })
      for (const url of [
        'http://example.com',
        'ftp://example.com',
        'https://user@example.com',
        'https://:password@example.com',
        'https://10.0.0.1',
        'https://0x7f.1',
        'https://[::ffff:10.0.0.1]/',
        'example.com',
        '',
        `https://example.com/${'x'.repeat(2000)}`,
      ])
        expect(await failure(ada.add({ url })), url).to.include({ status: 422, code: 'webhook_url_refused' })
      expect(await failure(ada.add({ url: 'https://example.com', events: ['invoice.payed'] }))).to.include({
        code: 'webhook_event_unknown',
      })
      expect(await ada.list()).to.deep.equal([])
      expect(await app.services.jobs.list()).to.deep.equal([])
    })

    it('refuses an address that is private at the dial, and tells the customer no more', async () => {
      const lookup = async () => [{ address: '169.254.169.254', family: 4 }]
      const app = await started({ lookup })
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: 'http://metadata.example.com/' })
      const refused = await ada.add({ url: 'ftp://example.com/' }).catch((caught: unknown) => caught)
      expect(refused).to.have.property('message', 'The address does not begin with https:// or http://.')
      await app.services.webhooks.send(invoicePaid, DATA, { owner: 'ada' })
      await testJobs(app)
        .run()
        .catch(() => undefined)
      expect((await ada.deliveries(id))[0]).to.include({
        state: 'waiting',
        status: undefined,
        error: 'The address is not public.',
      })
    })

    it('tells the customer the code of a connection that fails, and no more', async () => {
      const app = await started()
      const ada = app.services.webhooks.endpointsOf('ada')
      const { id } = await ada.add({ url: receiver.url })
      receiver.behaviour.respond = ({ socket }) => void socket.destroy()
      await app.services.webhooks.send(invoicePaid, DATA, { owner: 'ada' })
      await testJobs(app)
        .run()
        .catch(() => undefined)
      expect((await ada.deliveries(id))[0]).to.include({ error: 'The connection failed (ECONNRESET).' })
    })
  })

describe('The start without the tables of webhooks', () => {
  const place = KINDS['SQLite']!()

  it('is refused in production, and logs a warning elsewhere', async () => {
    await (await place().open(jobsSchema)).synchronize()
    const { logger, lines } = keptLog()
    for (const entities of [[jobsSchema], SCHEMA]) {
      const connection = place().options(entities)
      const production = webhooksApp(connection, {}, { environment: 'production', logger })
      const error = await production.ready().catch((caught: unknown) => caught)
      expect(error).to.include({ code: 'MORTAR_WEBHOOKS_TABLE' })
      const other = webhooksApp(connection, {}, { logger })
      await other.ready()
      await other.close()
    }
    expect(lines.filter(({ fields }) => fields['code'] === 'MORTAR_WEBHOOKS_TABLE')).to.have.lengthOf(2)
  })
})
