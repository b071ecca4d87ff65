import { tracingChannel } from 'node:diagnostics_channel'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { expect } from 'chai'
import { defineBrick, routerFor } from 'mortar'
import { JOB_CHANNEL } from 'mortar/kit'
import { createClient } from 'mortar/testing'
import * as schema from '@mortar/jobs/schema'
import { testJobs } from '@mortar/jobs/testing'
import { tracing } from '@mortar/tracing'
import { jobsApp, keptLog, winterClock, type JobsApp } from '../jobs/applications.ts'
import recordJob from '../jobs/jobs/record.ts'

const CONNECTION = {
  type: 'better-sqlite3',
  database: ':memory:',
  entities: schema,
  synchronize: true,
} as const

describe('tracing() with jobs', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const clock = winterClock()
  let app: JobsApp
  let log: ReturnType<typeof keptLog>

  before(() => provider.register())
  after(async () => {
    await provider.shutdown()
    for (const api of [trace, context, propagation]) api.disable()
  })
  beforeEach(() => {
    exporter.reset()
    log = keptLog()
    app = jobsApp(CONNECTION, {}, { clock, logger: log.logger }).use(tracing())
  })
  afterEach(() => app.close())
  const spans = (kind: SpanKind) => exporter.getFinishedSpans().filter((span) => span.kind === kind)

  it('makes a span for each attempt, linked to the request that added the job', async () => {
    app.use(
      routerFor<JobsApp>().post('/texts', {}, (ctx) =>
        ctx.jobs.add(recordJob, { text: 'secret', failures: 1 }),
      ),
    )
    await createClient(app).post('/texts', {})
    expect(await testJobs(app).run({ failing: [recordJob] })).to.equal(1)
    clock.advance('10s')
    // A worker that a request wakes up runs in the context of that request.
    const outer = trace
      .getTracer('request')
      .startActiveSpan('outer', (span) =>
        context.with(trace.setSpan(context.active(), span), () => testJobs(app).run()),
      )
    expect(await outer).to.equal(1)
    const [request] = spans(SpanKind.SERVER)
    const attempts = spans(SpanKind.CONSUMER)
    const [job] = log.lines.filter(({ text }) => text === 'Job done').map(({ fields }) => fields)
    expect(attempts.map(({ name }) => name)).to.deep.equal(['process record', 'process record'])
    for (const [index, span] of attempts.entries()) {
      expect(span.links.map((link) => link.context.spanId)).to.deep.equal([request!.spanContext().spanId])
      expect(span.links[0]!.context.traceId).to.equal(request!.spanContext().traceId)
      expect(span.spanContext().traceId).to.not.equal(request!.spanContext().traceId)
      expect(span.parentSpanContext).to.equal(undefined)
      expect(span.attributes).to.include({
        'messaging.destination.name': 'record',
        'messaging.message.id': job!['jobId'],
        'mortar.job.attempt': index + 1,
      })
    }
    expect(attempts[0]!.status).to.deep.equal({ code: SpanStatusCode.ERROR })
    expect(attempts[0]!.attributes['error.type']).to.equal('Error')
    expect(attempts[1]!.status.code).to.equal(SpanStatusCode.UNSET)
    expect(job).to.include({ trace_id: attempts[1]!.spanContext().traceId })
    expect(JSON.stringify(attempts.map(({ attributes, events }) => [attributes, events]))).to.not.include(
      'secret',
    )
  })

  /** Starts the application. @returns a function that runs an attempt of a job as the application does. */
  async function failingAttempts(): Promise<(thrown: unknown) => Promise<unknown>> {
    const seen: { services?: object } = {}
    app.use(defineBrick({ name: 'probe', start: (services) => void (seen.services = services) }))
    await app.ready()
    return (thrown) =>
      tracingChannel(JOB_CHANNEL)
        .tracePromise(() => Promise.reject(thrown as Error), { ...seen, id: '1', name: 'odd', attempt: 1 })
        .catch(() => undefined)
  }

  it('names the class of what an attempt throws, and _OTHER for a value that is not an Error', async () => {
    const attempt = await failingAttempts()
    for (const thrown of [new RangeError('secret'), 'secret', { name: 'secret' }]) await attempt(thrown)
    const found = spans(SpanKind.CONSUMER).map(({ attributes, status }) => [
      attributes['error.type'],
      status.code,
    ])
    expect(found).to.deep.equal(
      ['RangeError', '_OTHER', '_OTHER'].map((type) => [type, SpanStatusCode.ERROR]),
    )
  })

  it('stops when the application closes', async () => {
    const attempt = await failingAttempts()
    await app.close()
    await attempt('after the stop')
    expect(spans(SpanKind.CONSUMER)).to.deep.equal([])
  })

  it('makes no link for a job that was added without a span, and none for another application', async () => {
    const other = jobsApp(CONNECTION, {}, { clock })
    for (const each of [app, other]) {
      await each.ready()
      await each.services.jobs.add(recordJob, { text: 'a', failures: 0 })
      expect(await testJobs(each).run()).to.equal(1)
    }
    await other.close()
    expect(spans(SpanKind.CONSUMER).map(({ links }) => links)).to.deep.equal([[]])
  })

  it('gives the jobs of another application neither a trace nor fields of the log', async () => {
    const otherLog = keptLog()
    const other = jobsApp(CONNECTION, {}, { clock, logger: otherLog.logger })
    await Promise.all([app.ready(), other.ready()])
    const { jobs, db } = other.services
    await trace.getTracer('request').startActiveSpan('outer', async (span) => {
      await jobs.add(recordJob, { text: 'a', failures: 0 })
      span.end()
    })
    const rows = await db.getRepository(schema.MortarJobs).find()
    expect(rows.map((row) => row.trace)).to.deep.equal([null])
    expect(await testJobs(other).run()).to.equal(1)
    const [done] = otherLog.lines.filter(({ text }) => text === 'Job done')
    expect(done!.fields).to.not.have.property('trace_id')
    await other.close()
  })
})

describe('tracing() with jobs, without an SDK', () => {
  it('adds no fields to the log', async () => {
    const log = keptLog()
    const app = jobsApp(CONNECTION, {}, { logger: log.logger }).use(tracing())
    await app.ready()
    await app.services.jobs.add(recordJob, { text: 'a', failures: 0 })
    expect(await testJobs(app).run()).to.equal(1)
    const [done] = log.lines.filter(({ text }) => text === 'Job done')
    expect(done!.fields).to.not.have.any.keys('trace_id', 'span_id')
    await app.close()
  })
})
