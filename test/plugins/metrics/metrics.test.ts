import { spawnSync } from 'node:child_process'
import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, REQUEST_CHANNEL, type App, type Environment } from 'mortar'
import { metrics, type MetricsOptions } from '@mortar/metrics'
import { Counter } from 'prom-client'
import { throughBothAdapters } from '../../support/adapters.ts'
import { freePort } from '../../support/free-port.ts'
import { startupErrorOf } from '../../support/startup-error-of.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { UNREADABLE } from '../../support/unreadable-error.ts'

const TOKEN = 'a token of the tests'.replaceAll(' ', '-')
const notes = () =>
  createRouter()
    .get('/notes/:id', () => 'a note')
    .post('/notes', () => ({ id: 1 }))
    .get('/fails', () => {
      throw new Error('boom')
    })

const appWith = (options: MetricsOptions = {}, environment: Environment = 'test') =>
  createApp({ environment, logger: false })
    .use(metrics({ process: false, ...options }))
    .use(notes())

/** Lines of the text that begin with a name. */
const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name))

/** Scrapes until the text contains a line, because a request is counted when its response is closed. */
async function scrapeUntil(scrape: () => Promise<string>, line: string): Promise<string> {
  for (;;) {
    const text = await scrape()
    if (text.includes(line)) return text
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
}

describe('metrics()', () => {
  const open: App[] = []
  const started = <A extends App>(app: A): A => {
    open.push(app)
    return app
  }
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close()
  })

  throughBothAdapters((serve) => {
    it('counts requests by method, pattern of the route and status', async () => {
      const { fetch } = await serve(appWith())
      for (const [path, method] of [
        ['/notes/1', 'GET'],
        ['/notes/2?q=secret', 'GET'],
        ['/notes/3', 'HEAD'],
        ['/notes', 'POST'],
        ['/fails', 'GET'],
        ['/nothing', 'GET'],
        ['/notes', 'PROPFIND'],
      ] as const)
        await fetch(path, { method })
      const scrape = async () => (await fetch('/metrics')).text()
      const text = await scrapeUntil(scrape, 'method="_OTHER"')
      expect(linesOf(text, 'http_server_request_duration_seconds_count').toSorted()).deep.equal([
        'http_server_request_duration_seconds_count{method="GET",route="",status="404"} 1',
        'http_server_request_duration_seconds_count{method="GET",route="/fails",status="500"} 1',
        'http_server_request_duration_seconds_count{method="GET",route="/notes/:id",status="200"} 2',
        'http_server_request_duration_seconds_count{method="HEAD",route="/notes/:id",status="200"} 1',
        'http_server_request_duration_seconds_count{method="POST",route="/notes",status="200"} 1',
        'http_server_request_duration_seconds_count{method="_OTHER",route="",status="405"} 1',
      ])
      expect(linesOf(text, 'http_server_active_requests')).deep.equal(['http_server_active_requests 0'])
      expect(text).not.contain('secret')
    })
  })

  it('counts a request that the client leaves as 499, and requests in flight', async () => {
    const app = started(appWith())
    app.use(createRouter().get('/hangs', (ctx) => once(ctx.signal, 'abort').then(() => null)))
    const { port, url } = await app.listen(0, '127.0.0.1')
    const scrape = async () => (await fetch(`${url}/metrics`)).text()
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /hangs HTTP/1.1\r\nHost: a\r\n\r\n')
    await scrapeUntil(scrape, 'http_server_active_requests 1')
    socket.destroy()
    const text = await scrapeUntil(scrape, 'http_server_active_requests 0')
    expect(text).contain('_count{method="GET",route="/hangs",status="499"} 1')
  })

  it('measures the durations of requests in seconds', async () => {
    const app = started(appWith())
    const before = performance.now()
    await app.inject({ url: '/notes/1' })
    const scrape = async () => (await app.inject({ url: '/metrics' })).body
    const text = await scrapeUntil(scrape, '_count{method="GET",route="/notes/:id",status="200"} 1')
    const [line] = linesOf(text, 'http_server_request_duration_seconds_sum')
    const passed = (performance.now() - before) / 1000
    expect(Number(line?.split(' ').at(-1))).within(Number.MIN_VALUE, passed)
  })

  it('adds no series for unknown paths and methods', async () => {
    const app = started(appWith())
    const scrape = async () => (await app.inject('/metrics')).payload
    await app.inject('/unknown')
    const before = (await scrapeUntil(scrape, 'route=""')).split('\n').length
    for (let path = 0; path < 1000; path++) await app.inject(`/unknown/${path}`)
    const text = await scrapeUntil(scrape, 'status="404"} 1001')
    expect(text.split('\n').length).equal(before)
  })

  it('escapes the pattern of a route in its label', async () => {
    const app = started(createApp({ logger: false }).use(metrics({ process: false })))
    app.use(createRouter().get('/a"b\\c/é', () => 'x'))
    await app.inject('/a%22b%5Cc/%C3%A9')
    const text = await scrapeUntil(async () => (await app.inject('/metrics')).payload, '_count{')
    expect(text).contain('route="/a\\"b\\\\c/é"')
  })

  it('keeps the metrics of two applications in one process apart', async () => {
    const [one, other] = [started(appWith()), started(appWith())]
    await one.ready()
    await other.ready()
    await one.inject('/notes/1')
    const text = await scrapeUntil(async () => (await one.inject('/metrics')).payload, '_count{')
    expect(linesOf(text, 'http_server_request_duration_seconds_count')).length(1)
    const { payload } = await other.inject('/metrics')
    expect(payload).not.contain('_count{')
    expect(payload).contain('http_server_active_requests 0\n')
  })

  it('measures nothing any more after its stop, and after a start that failed', async () => {
    const port = await freePort()
    const { start } = tracingChannel<unknown, object>(REQUEST_CHANNEL)
    const probed = (options: MetricsOptions) => {
      const seen: { services: object } = { services: {} }
      const probe = defineBrick({ name: 'probe', start: (services) => void (seen.services = services) })
      const app = started(createApp({ environment: 'test', logger: false }).use(probe).use(metrics(options)))
      const isMeasured = (): boolean => {
        const message = { services: seen.services }
        start.publish(message)
        return Reflect.ownKeys(message).length > 1
      }
      return { app, isMeasured }
    }
    const [one, other] = [probed({ port, process: false }), probed({ port, process: false })]
    await one.app.ready()
    expect(await startupErrorOf(() => other.app.ready())).include({ code: 'MORTAR_METRICS_LISTEN' })
    expect([one.isMeasured(), other.isMeasured()]).deep.equal([true, false])
    const { metrics: registry } = one.app.services
    expect(registry.getMetricsAsArray()).not.deep.equal([])
    await one.app.close()
    expect(one.isMeasured()).equal(false)
    expect(registry.getMetricsAsArray()).deep.equal([])
  })

  it('counts a route of the application with the path of the metrics, if they have a port of their own', async () => {
    const port = await freePort()
    const own = createRouter().get('/metrics', () => 'own')
    const app = started(appWith({ port }).use(own))
    await app.inject('/metrics')
    const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    await scrapeUntil(scrape, 'route="/metrics"')
  })

  it('is not in the OpenAPI document, and has no log line', async () => {
    const lines: unknown[] = []
    const write = (...line: unknown[]) => void lines.push(line)
    const logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
    const app = started(
      createApp({ logger, logRequests: true })
        .use(metrics({ process: false }))
        .use(notes()),
    )
    const document = (await app.inject('/openapi.json')).payload
    await app.inject('/notes/7')
    await app.inject('/metrics')
    expect(document).contain('/notes/{id}').not.contain('metrics')
    expect(JSON.stringify(lines)).contain('/notes/7').not.contain('metrics')
  })

  it('publishes the gauges of bricks, those that are added later too, and metrics of the application', async () => {
    const app = started(appWith())
    await app.ready()
    let waiting: number | undefined = 3
    app.services.gauges.add('queue_waiting', { help: 'Waiting.', read: () => waiting })
    app.services.gauges.add('queue_done', { help: 'Done.', isCounter: true, read: () => 5 })
    const visits = new Counter({
      name: 'visits',
      help: 'Visits.',
      registers: [app.services.metrics],
    })
    visits.inc(2)
    expect((await app.inject('/metrics')).payload)
      .contain('# TYPE queue_waiting gauge\nqueue_waiting 3\n')
      .contain('# TYPE queue_done counter\nqueue_done 5\n')
      .contain('\nvisits 2\n')
    waiting = undefined
    expect((await app.inject('/metrics')).payload).not.match(/^queue_waiting /m)
  })

  it('refuses the path of a probe, which it would replace', async () => {
    const { code, message } = await startupErrorOf(() => appWith({ path: '/readyz' }).ready())
    expect(code).equal('MORTAR_OPTION')
    expect(message).contain("health.ready is the path of brick 'metrics'")
    await started(appWith({ path: '/readyz', port: 0 })).ready()
  })

  it('adds a prefix to all names, and the metrics of the process', async () => {
    const app = started(appWith({ prefix: 'notes_', process: true }))
    const { payload, headers } = await app.inject('/metrics')
    const names = payload.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    expect(names.filter((line) => !line.startsWith('notes_'))).deep.equal([])
    expect(payload)
      .contain('notes_process_resident_memory_bytes')
      .contain('notes_nodejs_eventloop_lag_seconds')
    expect(headers).include({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
    })
  })

  describe('access', () => {
    it('needs the token, and compares all of it', async () => {
      const app = started(appWith({ token: TOKEN }, 'production'))
      for (const [authorization, status] of [
        [undefined, 401],
        [`Bearer ${TOKEN}x`, 401],
        [`Bearer ${TOKEN.slice(0, -1)}`, 401],
        [`Basic ${TOKEN}`, 401],
        ['', 401],
        [`Bearer ${TOKEN}`, 200],
        [`bearer  ${TOKEN}`, 200],
        [`BEARER ${TOKEN}`, 200],
      ] as const) {
        const headers = authorization === undefined ? {} : { authorization }
        const { statusCode } = await app.inject({ url: '/metrics', headers })
        expect(statusCode, authorization).equal(status)
      }
      expect((await app.inject(`/metrics?access_token=${TOKEN}`)).statusCode).equal(401)
    })

    it('is for a loopback connection without a proxy when there is no token', async () => {
      const app = started(appWith())
      const statusOf = async (request: object) =>
        (await app.inject({ url: '/metrics', ...request })).statusCode
      expect(await statusOf({})).equal(200)
      expect(await statusOf({ remoteAddress: '192.0.2.1' })).equal(403)
      expect(await statusOf({ headers: { 'x-forwarded-for': '192.0.2.1' } })).equal(403)
      for (const host of ['rebind.evil.example', 'localhost.evil.example'])
        expect(await statusOf({ headers: { host } }), host).equal(403)
      for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000'])
        expect(await statusOf({ headers: { host } }), host).equal(200)
    })

    it('refuses what a proxy without headers of its own sends when there is no token', async () => {
      const { port } = await started(appWith()).listen(0)
      for (const [version, connection, status] of [
        ['1.0', 'close', 403],
        ['1.0', 'keep-alive', 403],
        ['1.1', 'close', 403],
        ['1.1', 'keep-alive', 200],
      ] as const) {
        const request = `GET /metrics HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nConnection: ${connection}\r\n\r\n`
        expect((await rawRequest(port, request, 500)).status, `${version} ${connection}`).equal(status)
      }
    })

    it('goes on to serve on a port of its own after connections that could not be accepted', async () => {
      const port = await freePort()
      const { mock: created } = mock.method(http, 'createServer')
      const app = started(appWith({ port }, 'production'))
      await app.ready().finally(() => created.restore())
      const servers = created.calls.map(({ result }) => result as http.Server)
      const own = servers.find((server) => (server.address() as AddressInfo | null)?.port === port)!
      // Without `host`, no other machine reaches the port.
      expect((own.address() as AddressInfo).address).equal('127.0.0.1')
      const refused = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
      for (let count = 0; count < 2; count++) own.emit('error', refused)
      expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).equal(200)
    })

    it('refuses to start in production without a token and a port', async () => {
      const error = await startupErrorOf(() => appWith({}, 'production').ready())
      expect(error).include({ code: 'MORTAR_METRICS_OPEN', brick: 'metrics' })
    })

    it('responds with 500 on a port of its own while a gauge throws what cannot be read', async () => {
      const port = await freePort()
      const app = started(appWith({ port, token: TOKEN }, 'production'))
      await app.ready()
      const read = (): never => {
        throw UNREADABLE
      }
      app.services.gauges.add('queue_waiting', { help: 'Waiting.', read })
      const headers = { authorization: `Bearer ${TOKEN}` }
      expect((await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).status).equal(500)
    })

    it('serves on a port of its own, and then not in the application', async () => {
      const port = await freePort()
      const { mock: created } = mock.method(http, 'createServer')
      const app = started(appWith({ port, token: TOKEN }, 'production'))
      await app.ready().finally(() => created.restore())
      const order: string[] = []
      for (const { result } of created.calls) result!.once('close', () => order.push('the port'))
      await app.inject('/notes/1')
      const url = `http://127.0.0.1:${port}`
      const headers = { authorization: `Bearer ${TOKEN}` }
      const statusOf = async (path: string, init?: RequestInit) => (await fetch(url + path, init)).status
      expect((await app.inject('/metrics')).statusCode).equal(404)
      const stranger = await fetch(`${url}/metrics`)
      expect([stranger.status, stranger.headers.get('www-authenticate')]).deep.equal([401, 'Bearer'])
      expect(await statusOf('/metrics?module=all', { headers })).equal(200)
      expect(await statusOf('/metrics', { headers, method: 'HEAD' })).equal(200)
      expect(await statusOf('/notes/1', { headers })).equal(404)
      expect(await statusOf('/metrics', { headers, method: 'POST' })).equal(404)
      const scraped = await fetch(`${url}/metrics`, { headers })
      expect(scraped.headers.get('cache-control')).equal('no-store')
      expect(await scraped.text()).contain('route="/notes/:id"')
      const other = appWith({ port }, 'production')
      expect(await startupErrorOf(() => other.ready())).include({ code: 'MORTAR_METRICS_LISTEN' })
      const unfinished = connect(port, '127.0.0.1')
      await new Promise<void>((sent) => {
        unfinished.write('GET /metrics HTTP/1.1\r\n', () => sent())
      })
      const ended = new Promise<void>((resolve) => {
        unfinished.on('error', () => undefined).once('close', () => resolve())
      })
      await app.close()
      order.push('the application')
      await ended
      expect(order).deep.equal(['the port', 'the application'])
      expect(await fetch(url).catch(() => 'closed')).equal('closed')
    })

    for (const [name, options] of Object.entries({
      'a short token': { token: 'short' },
      'a token with a line break': { token: 'a token\nwith a line break' },
      'a token of 15 characters': { token: 'x'.repeat(15) },
      'a path with a parameter': { path: '/:metrics' },
      'a path without a slash': { path: 'metrics' },
      'a port above 65535': { port: 65_536 },
      'a port below 0': { port: -1 },
      'a part of a port': { port: 1.5 },
      'a host without a port': { host: '127.0.0.1' },
      'a prefix with a hyphen': { prefix: 'my-app' },
      'a prefix that begins with a digit': { prefix: '1a' },
      'no buckets': { buckets: [] },
      'buckets in another order': { buckets: [2, 1] },
      'two equal buckets': { buckets: [1, 2, 2] },
      'a bucket of no time': { buckets: [0, 1] },
      'a bucket without an end': { buckets: [1, Infinity] },
    } satisfies Record<string, MetricsOptions>))
      it(`refuses ${name}`, async () => {
        const error = await startupErrorOf(() => metrics(options))
        expect(error.code).equal('MORTAR_METRICS_OPTION')
        expect(error.message).not.contain('short')
      })

    it('accepts the least and the greatest value of each option', () => {
      for (const options of [
        { token: '!~'.repeat(8), path: '/', port: 0, prefix: '', buckets: [Number.MIN_VALUE] },
        { path: '/a.b/c_d~e-9', port: 65_535, host: '::1', prefix: '_A9', buckets: [1, 1 + Number.EPSILON] },
      ])
        expect(metrics(options).name).equal('metrics')
    })
  })

  it('produces text that promtool accepts', async function checkWithPromtool() {
    const found = spawnSync('promtool', ['--version'])
    if (found.error) {
      console.log('      skipped: promtool is not installed (apt-get install prometheus)')
      this.skip()
    }
    const app = started(appWith({ process: true }))
    app.services.gauges.add('queue_waiting', { help: 'Waiting.', read: () => 1 })
    await app.inject('/notes/1')
    const text = await scrapeUntil(async () => (await app.inject('/metrics')).payload, '_count{')
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    // promtool also warns of names that prom-client chooses for the process.
    const own = `${stdout}${stderr}`.split('\n').filter((line) => /^(?:http_|queue_|error)/.test(line))
    expect(own).deep.equal([])
  })
})
