import { expect } from 'chai'
import { createApp, createRouter, scoped, type App } from 'mortar'
import { limits } from '@mortar/limits'
import { defineSocket, realtime, type RealtimeOptions } from '@mortar/realtime'
import { connect, HandshakeRefused } from '@mortar/realtime/testing'
import { number, object, string } from 'mortar/yup'
import { deferred } from '../../support/deferred.ts'
import { throughBothAdapters } from '../../support/adapters.ts'
import { recorder } from '../../app/recorder.ts'
import { frame, handshake, openRaw } from './raw-socket.ts'
import { as, createSessions } from '../../support/session-brick.ts'

const message = object({ text: string().required() })
const echo = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
  for await (const { text } of socket) socket.send({ text: text.toUpperCase() })
})
const greet = defineSocket({ send: message }, (_ctx, socket) => socket.send({ text: 'hello' }))

const OWN_HTTP = { host: 'app.test', origin: 'http://app.test' }
const EVIL = { origin: 'https://evil.example' }

function create(options: RealtimeOptions = {}, lines: string[] = []) {
  const sessions = createSessions()
  const released: string[] = []
  const app = createApp({
    logger: recorder(lines),
    environment: 'test',
    drainDelay: 0,
    logRequests: true,
    trustedOrigins: ['https://app.example'],
    trustProxy: ['127.0.0.1', '::1'],
  })
    .use(sessions.brick)
    .use(limits())
    .use(realtime({ origins: ['https://partner.example'], ...options }))
    .provide({ room: scoped(() => ({ name: 'room' }), { dispose: ({ name }) => void released.push(name) }) })
  app.use(async (ctx, next) => {
    ctx.set('X-Before', 'yes')
    const value = await next()
    ctx.append('Set-Cookie', 'seen=1')
    return value
  })
  const router = createRouter()
    .get('/echo', echo)
    .get('/greet', greet)
    .get(
      '/mine',
      defineSocket({ auth: true }, (ctx, socket) => socket.send({ id: ctx.user.id })),
    )
    .get(
      '/admin',
      defineSocket({ auth: 'admin' }, () => undefined),
    )
    .get(
      '/rooms/:id',
      defineSocket(
        { params: object({ id: number().required() }), query: object({ from: number() }) },
        ({ params, query }, socket) => socket.send({ id: params.id + 1, from: query.from }),
      ),
    )
    .get(
      '/limited',
      defineSocket({ limit: { limit: 1, window: '1m', by: 'ip' } }, () => undefined),
    )
    .post('/posted', (ctx) => ({ body: ctx.body }))
    .get('/plain', () => 'plain')
  app.use(router)
  return { app, sessions, released, lines }
}

async function refusal(
  app: App,
  path: string,
  headers: Record<string, string> = {},
): Promise<HandshakeRefused> {
  const error: unknown = await connect(app, path, { headers }).then(
    (socket) => socket.closed,
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(HandshakeRefused)
  return error as HandshakeRefused
}

describe('The handshake of a socket', () => {
  throughBothAdapters((open) => {
    it('carries the headers of middleware, its request id, and typed inputs', async () => {
      const { app } = create()
      const { url } = await open(app)
      const raw = openRaw(url, handshake('/rooms/7?from=3', { 'X-Request-Id': 'abc-123-def' }))
      await raw.until('"from"')
      expect(raw.text()).to.match(/^HTTP\/1\.1 101 /)
      for (const header of ['x-before: yes', 'set-cookie: seen=1', 'x-request-id: abc-123-def'])
        expect(raw.text().toLowerCase()).to.include(header)
      expect(raw.text()).to.include('{"id":8,"from":3}')
      raw.socket.destroy()
    })

    it('is refused with an ordinary problem response', async () => {
      const { app } = create()
      await open(app)
      const cases: readonly (readonly [
        path: string,
        status: number,
        code: string,
        headers?: Record<string, string>,
      ])[] = [
        ['/unknown', 404, 'not_found'],
        ['/posted', 405, 'method_not_allowed'],
        ['/mine', 401, 'unauthorized'],
        ['/mine', 401, 'invalid_token', as('eve')],
        ['/admin', 403, 'policy_denied', as('bob')],
        ['/rooms/seven', 422, 'validation_failed'],
        ['/echo', 403, 'origin_refused', EVIL],
        ['/mine', 403, 'origin_refused', { ...EVIL, cookie: 'token=ada' }],
        ['/mine?access_token=ada', 403, 'origin_refused', EVIL],
        ['/mine', 403, 'origin_refused', { 'sec-fetch-site': 'cross-site', cookie: 'token=ada' }],
        ['/echo', 403, 'origin_refused', { origin: 'null' }],
        ['/echo', 403, 'origin_refused', { ...OWN_HTTP, 'x-forwarded-proto': 'https' }],
        // A browser attaches the password of a proxy by itself.
        ['/mine', 403, 'origin_refused', { ...EVIL, cookie: 'token=ada', authorization: 'Basic YTpi' }],
      ]
      for (const [path, status, code, headers] of cases) {
        const { status: found, body } = await refusal(app, path, headers)
        expect({ path, status: found, code: (body as { code: string }).code }).to.deep.equal({
          path,
          status,
          code,
        })
      }
    })

    it('is accepted from pages of the application and of the listed origins, and without a page', async () => {
      const { app } = create()
      const { url } = await open(app)
      const cookie = 'token=ada'
      const own = { origin: `http://${new URL(url).host}`, host: new URL(url).host }
      for (const headers of [
        own,
        { origin: 'https://app.example' },
        { origin: 'https://partner.example' },
        {},
      ]) {
        const socket = await connect(app, '/mine', { headers: { ...headers, cookie } })
        expect(await socket.next()).to.deep.equal({ id: 'ada' })
        expect(await socket.closed).to.deep.equal({ code: 1000, reason: '' })
      }
      for (const scheme of ['Bearer', 'bearer']) {
        const headers = { ...EVIL, authorization: `${scheme} bob` }
        const byHeader = await connect(app, '/mine', { headers })
        expect(await byHeader.next()).to.deep.equal({ id: 'bob' })
        await byHeader.closed
      }
    })

    it('is 426 for a plain request, before its guard, and for another version', async () => {
      const { app } = create()
      const { url, fetch } = await open(app)
      const plain = await fetch('/mine')
      expect(plain.status).to.equal(426)
      expect(plain.headers.get('upgrade')).to.equal('websocket')
      const old = openRaw(url, handshake('/echo', { 'Sec-WebSocket-Version': '8' }))
      await old.ended
      expect(old.text())
        .to.match(/^HTTP\/1\.1 426 /)
        .and.include('Sec-WebSocket-Version: 13')
    })

    it('is 400 for a key that is not one', async () => {
      const { app } = create()
      const { url } = await open(app)
      const raw = openRaw(url, handshake('/echo', { 'Sec-WebSocket-Key': 'short' }))
      await raw.ended
      expect(raw.text())
        .to.match(/^HTTP\/1\.1 400 /)
        .and.include('application/problem+json')
      // The next handshake carries no header of the one that failed.
      const next = openRaw(url, handshake('/echo'))
      await next.until('\r\n\r\n')
      expect(next.text().match(/^x-request-id: /gim)).to.have.length(1)
      next.socket.destroy()
    })

    it('counts by the limit of its route', async () => {
      const { app } = create()
      await open(app)
      const first = await connect(app, '/limited')
      await first.closed
      const { status, headers } = await refusal(app, '/limited')
      expect(status).to.equal(429)
      expect(headers).to.have.property('retry-after')
    })

    it('is read in pieces, with a frame directly behind it', async () => {
      const { app } = create()
      const { url } = await open(app)
      const bytes = handshake('/echo')
      const raw = openRaw(url)
      for (const byte of bytes) raw.socket.write(byte)
      raw.socket.write(frame(0x81, '{"text":"a"}'))
      await raw.until('{"text":"A"}')
      raw.socket.destroy()
    })

    it('waits for responses to earlier requests of its connection', async () => {
      const { app } = create()
      const slow = deferred()
      app.use(createRouter().get('/slow', () => slow.promise.then(() => 'slow')))
      const { url } = await open(app)
      const raw = openRaw(url, 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n', handshake('/greet'))
      setTimeout(slow.resolve, 20)
      await raw.until('"hello"')
      expect(raw.text()).to.match(/^HTTP\/1\.1 200 [^]*slowHTTP\/1\.1 101 /)
      raw.socket.destroy()
    })

    it('keeps scoped services and ctx.signal for the socket, and logs the request and its end', async () => {
      const { app, released, lines } = create()
      const seen = deferred<AbortSignal>()
      app.use(
        createRouter().get(
          '/held',
          defineSocket({ receive: message }, async (ctx, socket) => {
            expect(ctx.services['room']).to.deep.equal({ name: 'room' })
            expect(ctx.get('sec-websocket-key')).to.equal(undefined)
            seen.resolve(ctx.signal)
            for await (const each of socket) expect(each).to.deep.equal({ text: 'a' })
          }),
        ),
      )
      await open(app)
      const socket = await connect(app, '/held')
      socket.send({ text: 'a' })
      const signal = await seen.promise
      expect(signal.aborted).to.equal(false)
      expect(released).to.deep.equal([])
      const requests = lines.filter((line) => line.includes('request.completed'))
      expect(requests.join()).to.match(/"route":"\/held","status":101.*"aborted":false/)
      const aborted = deferred()
      signal.addEventListener('abort', () => aborted.resolve())
      socket.close(1000)
      await aborted.promise
      await socket.closed
      await app.close()
      expect(signal.reason).to.include({ code: 'client_closed_request' })
      expect(released).to.deep.equal(['room'])
      const ends = lines.filter((line) => line.includes('socket.closed'))
      expect(ends).to.have.length(1)
      expect(ends[0]).to.match(/"route":"\/held","code":1000,"ms":\d+,"received":1,"sent":0/)
    })

    it('leaves other protocols to ordinary HTTP, with their bodies', async () => {
      const { app } = create()
      const { url } = await open(app)
      const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n'
      const body = JSON.stringify({ text: 'x'.repeat(100_000) })
      const post = `POST /posted HTTP/1.1\r\nHost: localhost\r\n${h2c}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      const get = `GET /plain HTTP/1.1\r\nHost: localhost\r\n${h2c}\r\n`
      const socketRoute = `GET /greet HTTP/1.1\r\nHost: localhost\r\n${h2c}\r\n`
      const wanted: readonly (readonly [request: string, status: number, end: string])[] = [
        [post, 200, 'xxx"}}'],
        [get, 200, 'plain'],
        [socketRoute, 426, '"instance"'],
      ]
      for (const [request, status, end] of wanted) {
        const raw = openRaw(url, request)
        await raw.until(end)
        expect(raw.text()).to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
        raw.socket.destroy()
      }
    })

    it('is refused with 503 while the application drains', async () => {
      const { app } = create()
      const { url } = await open(app)
      const held = await connect(app, '/echo')
      const closing = app.close({ drainDelay: '10s' })
      const raw = openRaw(url, handshake('/echo'))
      await raw.ended
      expect(raw.text())
        .to.match(/^HTTP\/1\.1 503 /)
        .and.include('Retry-After: 1')
      held.send({ text: 'still' })
      expect(await held.next()).to.deep.equal({ text: 'STILL' })
      void app.close()
      expect(await held.closed).to.deep.equal({ code: 1001, reason: 'closing' })
      await closing
    })
  })
})
