import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { get as getByTls } from 'node:https'
import { tmpdir } from 'node:os'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  StartupError,
  type App,
  type AppOptions,
  type Environment,
  type ListenOptions,
} from 'mortar'
import { beginToServe } from '../../src/app/life/announce.ts'
import { planListening } from '../../src/app/serve/listen-options.ts'
import { ignore } from '../../src/support/ignore.ts'
import { leftConnections } from '../support/connections-of.ts'
import { rawRequest } from '../support/raw-request.ts'
import { deferred } from '../support/deferred.ts'

const TLS = join(import.meta.dirname, '../fixtures/tls')
const key = readFileSync(join(TLS, 'key.pem'))
const cert = readFileSync(join(TLS, 'cert.pem'))

function hello(options: AppOptions = {}): App {
  return createApp(options).use(createRouter().get('/', () => 'hello'))
}

async function failure(work: Promise<unknown>): Promise<StartupError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(StartupError)
  return error as StartupError
}

describe('listen()', () => {
  const apps: App[] = []
  const open = (app: App): App => {
    apps.push(app)
    return app
  }
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()))
  })

  it('accepts options and returns the Node server', async () => {
    const app = open(hello())
    const { url, host, server } = await app.listen({ port: 0, host: '127.0.0.1', keepAliveTimeout: '3s' })
    expect(host).to.equal('127.0.0.1')
    expect(server.listening).to.equal(true)
    expect(server.keepAliveTimeout).to.equal(3000)
    expect(await (await fetch(url)).text()).to.equal('hello')
    expect(app.listening?.server).to.equal(server)
  })

  it('passes limits to the server; limits of listen() take precedence over limits of createApp', async () => {
    const app = open(hello({ server: { maxConnections: 7, requestTimeout: 9, headersTimeout: 8 } }))
    const { server } = await app.listen({ port: 0, headersTimeout: 4 })
    expect([server.maxConnections, server.requestTimeout, server.headersTimeout]).to.deep.equal([
      7, 9000, 4000,
    ])
    // The default for headers is longer.
    const { server: brief } = await open(hello()).listen({ port: 0, requestTimeout: '10s' })
    expect([brief.requestTimeout, brief.headersTimeout]).to.deep.equal([10_000, 10_000])
    for (const requestTimeout of [9, 0])
      expect(planListening({ headersTimeout: 9, requestTimeout }, 'test').headersTimeout).to.equal(9000)
  })

  it('keeps idle connections for 75 s in production and 5 s elsewhere', () => {
    expect(planListening({}, 'production').keepAliveTimeout).to.equal(75_000)
    expect(planListening({}, 'development').keepAliveTimeout).to.equal(5000)
  })

  it('waits 30 s for headers and five minutes for a whole request by default', () => {
    const { headersTimeout, requestTimeout } = planListening({}, 'production')
    expect([headersTimeout, requestTimeout]).to.deep.equal([30_000, 300_000])
  })

  it('looks for slow clients four times in the shortest limit, each 5 s at the latest', () => {
    const intervalOf = (headersTimeout: number, requestTimeout: number): number =>
      planListening({ headersTimeout, requestTimeout }, 'test').connectionsCheckingInterval
    expect([intervalOf(2, 10), intervalOf(0, 8), intervalOf(30, 300), intervalOf(0.01, 1)]).to.deep.equal([
      500, 2000, 5000, 10,
    ])
  })

  it('binds loopback outside production and every interface in production', async () => {
    for (const host of [[], [undefined], ['']] as [string?][]) {
      const listening = await open(hello({ environment: 'development', logger: false })).listen(0, ...host)
      expect(listening.host).to.equal('127.0.0.1')
    }
    const { host, url } = await open(hello({ environment: 'production', logger: false })).listen(0)
    expect(host).to.be.oneOf(['::', '0.0.0.0'])
    expect(url).to.match(/^http:\/\/localhost:\d+$/)
  })

  it('serves HTTPS, and finishes requests in flight when it closes', async () => {
    const gate = deferred()
    const arrival = deferred()
    const app = createApp().use(
      createRouter().get('/', async () => {
        arrival.resolve()
        await gate.promise
        return 'secret'
      }),
    )
    const { url, port } = await app.listen({ port: 0, host: '127.0.0.1', tls: { key, cert } })
    expect(url).to.equal(`https://127.0.0.1:${port}`)
    const idle = connect(port, '127.0.0.1').on('error', () => undefined)
    const body = new Promise<string>((resolve, reject) => {
      getByTls(url, { ca: cert }, (res) => {
        res.setEncoding('utf8').on('data', resolve)
      }).on('error', reject)
    })
    await arrival.promise
    idle.destroy()
    const closing = app.close()
    gate.resolve()
    expect(await body).to.equal('secret')
    await closing
  })

  it('does not wait longer than its limit for a TLS handshake when it closes', async () => {
    const app = hello({ shutdownTimeout: 0.05, logger: false })
    const { server, port } = await app.listen({ port: 0, host: '127.0.0.1', tls: { key, cert } })
    const accepted = once(server, 'connection')
    const silent = connect(port, '127.0.0.1').on('error', () => undefined)
    await accepted
    const closed = once(silent, 'close')
    await app.close()
    await closed
  })

  it('closes a connection whose TLS handshake takes too long', async () => {
    const app = open(hello({ shutdownTimeout: 0.05, logger: false }))
    const tls = { key, cert, handshakeTimeout: 20 }
    const { server, port } = await app.listen({ port: 0, host: '127.0.0.1', tls })
    const silent = connect(port, '127.0.0.1').on('error', () => undefined)
    await once(server, 'tlsClientError')
    expect(await leftConnections(server)).to.equal(0)
    silent.destroy()
  })

  it('serves a Unix socket', async () => {
    const path = join(tmpdir(), `mortar-${randomUUID()}.sock`)
    await open(hello()).listen({ path })
    const req = request({ socketPath: path, path: '/' }).end()
    const [res] = (await once(req, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
    expect(res.statusCode).to.equal(200)
    res.resume()
    await once(res, 'end')
  })

  for (const [name, file, reason, remedy] of [
    ['that a killed process has left', '', 'EADDRINUSE', 'remove the file'],
    // Node reports the missing folder as EACCES.
    ['in a folder that does not exist', '/app.sock', 'EACCES', 'Make its folder'],
  ] as const)
    it(`names the remedy for a Unix socket ${name}`, async () => {
      const path = join(tmpdir(), `mortar-${randomUUID()}${file}`)
      if (file === '') writeFileSync(path, '')
      const { message } = await failure(open(hello()).listen({ path }))
      rmSync(path, { force: true })
      expect(message).to.contain(`${path}: ${reason}`).and.to.contain(remedy)
      expect(message).not.to.match(/\bport\b/i)
    })

  it('closes connections beyond maxConnections', async () => {
    const { port } = await open(hello()).listen({ port: 0, maxConnections: 1 })
    const agent = new Agent({ keepAlive: true })
    const req = request({ port, host: '127.0.0.1', agent }).end()
    const [res] = (await once(req, 'response')) as [NodeJS.ReadableStream]
    res.resume()
    await once(res, 'end')
    expect((await rawRequest(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).text).to.equal('')
    agent.destroy()
  })

  const wrong: Readonly<Record<string, unknown>> = {
    'a key that does not exist': { keepAlive: 3 },
    'a duration that is not one': { keepAliveTimeout: 'soon' },
    'a duration that no timer can wait for': { requestTimeout: '30d' },
    'headers that may take longer than the request': { headersTimeout: 20, requestTimeout: 10 },
    'a number of connections that is not one': { maxConnections: 0 },
    'a size that is not one': { maxHeaderSize: 'big' },
    'a path that is empty': { path: '' },
    'a path of which Node would bind a part': { path: join(tmpdir(), 'x'.repeat(107)) },
  }
  for (const [name, options] of Object.entries(wrong))
    it(`refuses ${name}`, async () => {
      expect((await failure(open(hello()).listen(options as ListenOptions))).code).to.equal('MORTAR_LISTEN')
    })

  it('refuses a certificate that it cannot use', async () => {
    const error = await failure(open(hello()).listen({ port: 0, tls: { key: 'x', cert: 'y' } }))
    expect(error.message).to.contain('tls')
  })

  it('refuses wrong limits of createApp when the application is made', () => {
    expect(() => createApp({ server: { keepAliveTimeout: 'soon' } })).to.throw(
      StartupError,
      'keepAliveTimeout',
    )
  })
})

describe('What listen() logs', () => {
  async function linesOf(environment: Environment, host: string): Promise<string[]> {
    const lines: string[] = []
    const log = (level: string) => (fields: unknown, message?: unknown) =>
      void lines.push(`${level} ${String(message ?? fields)}`)
    const logger = {
      debug: log('debug'),
      info: log('info'),
      warn: log('warn'),
      error: log('error'),
      child: () => logger,
    }
    const app = hello({ environment, logger, logRequests: false })
    await app.listen(0, host)
    await app.close()
    return lines
  }

  it('is the address', async () => {
    expect((await linesOf('development', '127.0.0.1'))[0]).to.match(
      /^info Listening at http:\/\/127\.0\.0\.1:\d+$/,
    )
  })

  it('is logged by the first worker alone, because all of them have one address', async () => {
    process.env['FRAMEWORK_WORKER'] = '2'
    try {
      expect(await linesOf('development', '0.0.0.0')).to.deep.equal([])
    } finally {
      delete process.env['FRAMEWORK_WORKER']
    }
  })

  it('is a warning when other machines can reach a development server', async () => {
    const warnings = (await linesOf('development', '0.0.0.0')).filter((line) => line.startsWith('warn'))
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.contain('/_framework/').and.to.contain('HOST')
    for (const host of ['127.0.0.1', '::ffff:127.0.0.1'])
      expect((await linesOf('development', host)).join(), host).not.to.contain('warn')
    for (const environment of ['production', 'test'] as const)
      expect((await linesOf(environment, '0.0.0.0')).join(), environment).not.to.contain('warn')
  })

  it('has no warning for a host that only this machine reaches', () => {
    const warned: string[] = []
    for (const host of ['::1', '127.0.0.2', '/run/app.sock', '::', '10.0.0.1', '::ffff:10.0.0.1'])
      beginToServe({ host, url: 'http://localhost:3000' }, {
        maintenance: { follow: ignore, stop: ignore },
        options: { environment: 'development', reporter: { info: ignore, warn: () => warned.push(host) } },
      } as unknown as Parameters<typeof beginToServe>[1])
    expect(warned).to.deep.equal(['::', '10.0.0.1', '::ffff:10.0.0.1'])
  })
})

describe('A request that listen() cannot read', () => {
  let app: App
  let port: number
  before(async () => {
    app = hello().use(createRouter().post('/', ({ body }) => body))
    ;({ port } = await app.listen({ port: 0, headersTimeout: 0.1, requestTimeout: 0.2 }))
  })
  after(() => app.close())

  const broken: Readonly<Record<string, readonly [status: number, code: string, bytes: string]>> = {
    'no Host': [400, 'bad_request', 'GET / HTTP/1.1\r\n\r\n'],
    'two Hosts': [400, 'bad_request', 'GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'],
    'the same Host twice': [400, 'bad_request', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    'bytes that are not HTTP': [400, 'bad_request', 'hello\r\n\r\n'],
    'headers that are too large': [
      431,
      'headers_too_large',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
    'headers that do not end': [408, 'request_timeout', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow:'],
    'a body that does not end': [
      408,
      'request_timeout',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\nx',
    ],
    'an expectation': [417, 'expectation_failed', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n'],
  }
  for (const [name, [status, code, bytes]] of Object.entries(broken))
    it(`gets ${status} as a problem and is disconnected: ${name}`, async () => {
      const answer = await rawRequest(port, bytes)
      expect(answer.status).to.equal(status)
      expect(answer.ending).to.equal('end')
      expect(answer.text).to.contain('Connection: close').and.to.contain('application/problem+json')
      const problem = JSON.parse(answer.text.split('\r\n\r\n')[1]!) as Record<string, unknown>
      expect(problem).to.include({ status, code })
      expect(problem['detail']).to.be.a('string')
    })

  it('is disconnected before its time is over, also if its client does not close its side', async () => {
    const patient = hello({ logger: false })
    const { server, port: its } = await patient.listen(0, '127.0.0.1')
    const socket = connect({ port: its, host: '127.0.0.1', allowHalfOpen: true })
    socket.write('hello\r\n\r\n')
    await once(socket.resume(), 'end')
    expect(await leftConnections(server)).to.equal(0)
    socket.destroy()
    await patient.close()
  })

  it('is disconnected near the limit of its headers, although the request may take minutes', async () => {
    const lenient = hello({ logger: false })
    const { port: its } = await lenient.listen({ port: 0, headersTimeout: 0.1 })
    const begin = performance.now()
    expect((await rawRequest(its, 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow:')).status).to.equal(408)
    expect(performance.now() - begin).to.be.below(4000)
    await lenient.close()
  })

  it('does not reach the application behind a good request on its connection', async () => {
    const answer = await rawRequest(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n')
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400'])
    expect(answer.text.match(/hello/g)).to.have.length(1)
  })

  it('gets nothing within a response that has begun', async () => {
    const streaming = hello({ logger: false }).use(
      createRouter().get('/begun', async function* () {
        yield 'part'
        await new Promise(() => {})
      }),
    )
    const { port: its } = await streaming.listen(0, '127.0.0.1')
    const socket = connect(its, '127.0.0.1')
    socket.write('GET /begun HTTP/1.1\r\nHost: a\r\n\r\n')
    let received = ''
    socket.on('data', (chunk) => (received += String(chunk)))
    await once(socket, 'data')
    socket.write('hello\r\n\r\n')
    await once(socket, 'close')
    expect(received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200'])
    await streaming.close()
  })

  it('may have a target in absolute form without a path', async () => {
    expect(
      (await rawRequest(port, 'GET http://a?b=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).status,
    ).to.equal(200)
  })

  it('may have headers of maxHeaderSize bytes', async () => {
    const roomy = hello()
    const { port: its } = await roomy.listen({ port: 0, maxHeaderSize: 32_768 })
    const sized = (bytes: number): string =>
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ${'x'.repeat(bytes)}\r\n\r\n`
    expect((await rawRequest(its, sized(20_000))).status).to.equal(200)
    expect((await rawRequest(its, sized(40_000))).status).to.equal(431)
    await roomy.close()
  })

  it('may leave Host out in HTTP/1.0', async () => {
    expect((await rawRequest(port, 'GET / HTTP/1.0\r\n\r\n')).text).to.match(/^HTTP\/1\.1 200 /)
  })
})
