import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node'
import { expect } from 'chai'
import { createApp, createRouter, REQUEST_CHANNEL, type App, type Logger } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import { connect as connectSocket } from '@mortar/realtime/testing'
import { tracing } from '@mortar/tracing'
import { throughBothAdapters } from '../../support/adapters.ts'

const TLS = join(import.meta.dirname, '../../fixtures/tls')
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

describe('tracing()', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const open: App[] = []
  const started = <A extends App>(app: A): A => {
    open.push(app)
    return app
  }

  before(() => provider.register())
  after(async () => {
    await provider.shutdown()
    for (const api of [trace, context, propagation]) api.disable()
  })
  beforeEach(() => exporter.reset())
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close()
  })

  const appWith = () => createApp({ environment: 'test', logger: false }).use(tracing())

  /** The finished spans, once there are so many: a span ends when the response is closed. */
  async function spans(count: number) {
    for (;;) {
      const finished = exporter.getFinishedSpans()
      if (finished.length >= count) return finished
      await new Promise((resolve) => {
        setTimeout(resolve, 5)
      })
    }
  }

  throughBothAdapters((serve) => {
    it('makes a SERVER span named by the pattern, with the conventional attributes only', async () => {
      const app = appWith().use(createRouter().post('/notes/:id', async () => ({ ok: true })))
      const { fetch } = await serve(app)
      await fetch('/notes/7?access_token=SECRET', {
        method: 'POST',
        body: JSON.stringify({ mail: 'ada@example.com' }),
        headers: {
          'Content-Type': 'application/json',
          Authorization: 'Bearer SECRET',
          traceparent: `00-${TRACE}-${PARENT}-01`,
        },
      })
      const [span] = await spans(1)
      expect(span).include({ name: 'POST /notes/:id', kind: SpanKind.SERVER })
      expect(span!.spanContext().traceId).equal(TRACE)
      expect(span!.parentSpanContext?.spanId).equal(PARENT)
      expect(span!.attributes).deep.equal({
        'http.request.method': 'POST',
        'http.route': '/notes/:id',
        'http.response.status_code': 200,
        'url.scheme': 'http',
      })
      expect(span!.status.code).equal(SpanStatusCode.UNSET)
    })

    it('ends the span of a handshake when the socket begins', async () => {
      const route = defineSocket({}, async (_ctx, socket) => {
        for await (const _message of socket);
      })
      const app = appWith().use(realtime()).use(createRouter().get('/rooms/:id', route))
      await serve(app)
      const socket = await connectSocket(app, '/rooms/7')
      const [span] = await spans(1)
      expect(span!.name).equal('GET /rooms/:id')
      expect(span!.attributes['http.response.status_code']).equal(101)
      socket.close()
      await socket.closed
      expect(exporter.getFinishedSpans()).length(1)
    })

    it('is active in middleware and handler, for each of 21 concurrent requests', async () => {
      const tracer = trace.getTracer('test')
      const app = appWith()
        .use(async (ctx, next) => {
          ctx.set('X-Outside', trace.getActiveSpan()!.spanContext().traceId)
          return next()
        })
        .use(
          createRouter().get('/jobs/:n', async () => {
            await new Promise((resolve) => {
              setTimeout(resolve, 2)
            })
            return tracer.startActiveSpan('inner', async (span) => {
              await Promise.resolve()
              span.end()
              return { trace: span.spanContext().traceId }
            })
          }),
        )
      const { fetch } = await serve(app)
      const responses = await Promise.all(Array.from({ length: 21 }, (_, n) => fetch(`/jobs/${n}`)))
      const inside = await Promise.all(
        responses.map(async (response) => ((await response.json()) as { trace: string }).trace),
      )
      expect(inside).deep.equal(responses.map(({ headers }) => headers.get('x-outside')))
      expect(new Set(inside).size).equal(21)
      const finished = await spans(42)
      const servers = new Map(
        finished
          .filter(({ kind }) => kind === SpanKind.SERVER)
          .map((span) => [span.spanContext().spanId, span]),
      )
      for (const inner of finished.filter(({ name }) => name === 'inner'))
        expect(servers.get(inner.parentSpanContext!.spanId)!.spanContext().traceId).equal(
          inner.spanContext().traceId,
        )
    })

    it('marks a 5xx as an error with its type, and a 4xx not', async () => {
      class CardDeclined extends Error {}
      const app = appWith().use(
        createRouter()
          .get('/fails', () => {
            throw new CardDeclined('the card of ada@example.com')
          })
          .get('/unreadable', () => {
            throw Object.assign(new Error(), { constructor: null, name: 1 })
          })
          .get('/broken', async function* broken() {
            yield 'the head was sent'
            throw new CardDeclined()
          })
          .get('/status/:status', (ctx) => {
            ctx.status = Number(ctx.params.status)
            return 'the status alone'
          }),
      )
      const { fetch } = await serve(app)
      const statuses = [499, 500, 503]
      for (const path of [
        '/fails',
        '/unreadable',
        ...statuses.map((each) => `/status/${each}`),
        '/nothing',
        '/broken',
      ])
        await fetch(path)
          .then((response) => response.text())
          .catch(() => 'cut off')
      const finished = await spans(7)
      expect(
        finished.map(({ name, status, attributes }) => [name, status, attributes['error.type']]),
      ).deep.equal([
        ['GET /fails', { code: SpanStatusCode.ERROR }, 'CardDeclined'],
        ['GET /unreadable', { code: SpanStatusCode.ERROR }, '500'],
        ['GET /status/:status', { code: SpanStatusCode.UNSET }, undefined],
        ['GET /status/:status', { code: SpanStatusCode.ERROR }, '500'],
        ['GET /status/:status', { code: SpanStatusCode.ERROR }, '503'],
        ['GET', { code: SpanStatusCode.UNSET }, undefined],
        ['GET /broken', { code: SpanStatusCode.ERROR }, 'CardDeclined'],
      ])
      expect(finished.flatMap(({ events }) => events)).deep.equal([])
    })
  })

  it('tells the scheme of a request over TLS', async () => {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(TLS, name)))
    const app = started(appWith().use(createRouter().get('/notes', () => 'ok')))
    const { url } = await app.listen({ port: 0, host: '127.0.0.1', tls: { key: key!, cert: cert! } })
    await new Promise<void>((resolve, reject) => {
      get(`${url}/notes`, { ca: cert! }, (response) => {
        response.resume().once('end', () => resolve())
      }).on('error', reject)
    })
    const [span] = await spans(1)
    expect(span!.attributes).include({ 'url.scheme': 'https', 'http.route': '/notes' })
  })

  it('exports nothing that a client or a user has sent', async () => {
    const app = started(appWith()).use(
      createRouter().post('/users/:name', () => {
        throw new Error('SECRET')
      }),
    )
    const { port } = await app.listen(0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    socket.write(
      'POST /users/SECRET?access_token=SECRET HTTP/1.1\r\nHost: SECRET\r\nUser-Agent: SECRET\r\nX-Request-Id: SECRET\r\n' +
        'X-Forwarded-For: SECRET\r\nCookie: a=SECRET\r\nAuthorization: Bearer SECRET\r\nConnection: close\r\n' +
        'Content-Type: application/json\r\nContent-Length: 8\r\n\r\n"SECRET"' +
        'PROPFIND /SECRET HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    )
    await once(socket.resume(), 'close')
    const [span] = await spans(1)
    const { name, attributes, events, status, links, resource } = span!
    const exported = JSON.stringify({
      name,
      attributes,
      events,
      status,
      links,
      resource: resource.attributes,
    })
    expect(exported).contain('/users/:name').not.contain('SECRET').not.contain('127.0.0.1')
  })

  it('names a method that no standard knows HTTP', async () => {
    const app = started(appWith())
    await app.inject({ method: 'PROPFIND', url: '/notes' })
    const [span] = await spans(1)
    expect(span!.name).equal('HTTP')
    expect(span!.attributes['http.request.method']).equal('_OTHER')
  })

  it('renames an active SERVER span of an HTTP instrumentation instead of making one', async () => {
    const app = started(appWith())
    app.use(createRouter().get('/notes/:id', async () => (await app.inject('/inner')).statusCode))
    await app.ready()
    const outer = trace.getTracer('http').startSpan('GET', { kind: SpanKind.SERVER })
    await context.with(trace.setSpan(context.active(), outer), () => app.inject('/notes/7'))
    const { attributes: known } = outer as unknown as ReadableSpan
    while (known['http.response.status_code'] === undefined) await new Promise(setImmediate)
    expect(outer.isRecording()).equal(true)
    outer.end()
    const finished = await spans(2)
    expect(finished.map(({ name, attributes }) => [name, attributes['http.route']])).deep.equal([
      ['GET', undefined],
      ['GET /notes/:id', '/notes/:id'],
    ])
    expect(finished[0]!.parentSpanContext?.spanId).equal(outer.spanContext().spanId)
  })

  it('makes a span for a request in the context of one that has ended', async () => {
    const outer = trace.getTracer('http').startSpan('GET', { kind: SpanKind.SERVER })
    outer.end()
    const app = started(appWith().use(createRouter().get('/notes/:id', () => 'ok')))
    await context.with(trace.setSpan(context.active(), outer), () => app.inject('/notes/7'))
    expect((await spans(2)).map(({ name }) => name)).deep.equal(['GET', 'GET /notes/:id'])
  })

  it('makes one span for a request in a process with two applications', async () => {
    const [one, other] = [started(appWith()), started(appWith())]
    await other.ready()
    await one.inject('/one')
    await other.inject('/other')
    await spans(2)
    expect(exporter.getFinishedSpans()).length(2)
  })

  it('adds trace_id and span_id to the log lines of the request, beside the fields of others', async () => {
    const lines: Record<string, unknown>[] = []
    const channel = `tracing:${REQUEST_CHANNEL}:start`
    const other = (message: unknown) =>
      void Object.assign(message as object, { logFields: { tenant: 'acme' } })
    subscribe(channel, other)
    const logger = loggerInto(lines)
    const app = started(createApp({ logger, logRequests: false }).use(tracing())).use(
      createRouter().get('/notes', (ctx) => {
        ctx.log.info('inside')
        return null
      }),
    )
    await app.inject('/notes')
    unsubscribe(channel, other)
    const [span] = await spans(1)
    const { traceId, spanId } = span!.spanContext()
    expect(lines.find(({ trace_id: id }) => id === traceId)).include({ span_id: spanId, tenant: 'acme' })
  })

  it('stops when the application closes', async () => {
    const app = appWith()
    await app.inject('/one')
    await spans(1)
    await app.close()
    const other = started(createApp({ logger: false }))
    await other.inject('/two')
    expect(exporter.getFinishedSpans()).length(1)
  })
})

describe('tracing() without an SDK', () => {
  it('serves requests and adds no fields to the log', async () => {
    const lines: Record<string, unknown>[] = []
    const app = createApp({ logger: loggerInto(lines), logRequests: false })
      .use(tracing())
      .use(
        createRouter().get('/notes', (ctx) => {
          ctx.log.info('inside')
          return { active: trace.getActiveSpan()?.isRecording() ?? false }
        }),
      )
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` }
    expect((await app.inject({ url: '/notes', headers })).json()).deep.equal({ active: false })
    expect(lines.filter((line) => 'trace_id' in line)).deep.equal([])
    await app.close()
  })
})

function loggerInto(lines: object[], bindings: object = {}): Logger {
  const write = (fields: object | string) => void lines.push({ ...bindings, ...(fields as object) })
  const logger = { debug: write, info: write, warn: write, error: write }
  return { ...logger, child: (more: object) => loggerInto(lines, { ...bindings, ...more }) }
}
