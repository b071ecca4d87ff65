import { once } from 'node:events'
import { createServer, IncomingMessage, request } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { createApp, createRouter, env, StartupError, type App, type Logger, type RequestEvents } from 'mortar'
import { createLogger } from '../../src/app/log/logger.ts'
import { createPinoLogger } from '../../src/app/log/pino-logger.ts'
import { redact } from '../../src/support/redact.ts'
import { isSecretName, redactText } from '../../src/support/redact-text.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { leastTime } from '../support/least-time.ts'

type Line = Record<string, unknown>

/** The logger of a production process, and its output. */
function production(level = 'info'): { logger: Logger; lines: Line[]; text: () => string } {
  const lines: Line[] = []
  // Request lines that waited are one write.
  const write = (text: string) =>
    void lines.push(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    )
  return { logger: createPinoLogger(level, false, { write }), lines, text: () => JSON.stringify(lines) }
}

const headers = { authorization: 'Bearer s3cr3t-token', cookie: 'a=c00kie', 'x-api-key': 'k3y-k3y' }
const SECRETS = /s3cr3t|c00kie|k3y/

describe('A line of the log', () => {
  const values: Readonly<Record<string, () => unknown>> = {
    'headers two levels down': () => ({ request: { headers } }),
    'headers six levels down': () => ({ a: { b: { c: { d: { e: { headers } } } } } }),
    'a list of users': () => [
      { name: 'Ada', password: 's3cr3t', passwordHash: 's3cr3t', password_hash: 's3cr3t' },
    ],
    'names in other spellings': () => ({ 'Set-Cookie': ['c00kie'], API_KEY: 'k3y', refresh_token: 's3cr3t' }),
    'a map and a set': () =>
      new Map<string, unknown>([
        ['token', 's3cr3t'],
        ['set', new Set([{ secret: 's3cr3t' }])],
      ]),
    'Headers and URLSearchParams': () => ({
      headers: new Headers(headers),
      query: new URLSearchParams({ access_token: 's3cr3t' }),
    }),
    'raw headers': () => ({
      raw: ['Authorization', 'Bearer s3cr3t', 'Host', 'x'],
      pairs: [['Cookie', 'a=c00kie']],
    }),
    'an error of a client': () =>
      Object.assign(new Error('failed', { cause: new Error('GET /?token=s3cr3t') }), {
        config: { headers, auth: { username: 'ada', password: 's3cr3t' }, data: '{"password":"s3cr3t"}' },
        response: { config: { headers } },
      }),
    'an address with a token': () => ({
      url: '/notes?page=2&access_token=s3cr3t',
      at: new URL('https://x/?token=s3cr3t'),
    }),
    'an address with a user part': () => ({ url: 'postgres://app:s3cr3t@localhost/db' }),
    'a request of Node': () => {
      const req = new IncomingMessage(new Socket())
      return {
        req: Object.assign(req, {
          method: 'GET',
          url: '/?token=s3cr3t',
          headers,
          rawHeaders: ['Cookie', 'c00kie'],
        }),
      }
    },
    'what has a toJSON': () => ({ user: { toJSON: () => ({ token: 's3cr3t' }) } }),
    'an object whose prototype is null': () =>
      Object.assign(Object.create(null) as object, { secret: 's3cr3t' }),
    'a JSON Web Token in prose': () => ({ note: 'got eyJhbGciOiJ9.s3cr3tpayload.s3cr3tsignature from it' }),
  }
  for (const [name, value] of Object.entries(values))
    it(`has no secrets: ${name}`, () => {
      const log = production()
      log.logger.info({ value: value() }, 'A message')
      log.logger.child({ value: value() }).child({ more: value() }).warn('Another one')
      const error: unknown = value()
      if (error instanceof Error) log.logger.error(error)
      expect(log.lines.length).to.be.greaterThan(1)
      expect(log.text()).not.to.match(SECRETS)
      expect(log.text()).to.contain('[redacted]')
    })

  it('has no secrets in its message and the values of it', () => {
    const log = production()
    log.logger.info('GET /notes?access_token=s3cr3t')
    ;(log.logger.info as (...line: unknown[]) => void)('with %s and %o', 'Bearer s3cr3t', { headers })
    expect(log.text()).not.to.match(SECRETS)
  })

  it('shows everything else', () => {
    const log = production()
    const at = new Date(0)
    log.logger.info(
      { count: 3, tokens: 5, name: 'Ada', list: [1, null, true], at, note: 'Basic rules, token expected' },
      'm',
    )
    expect(log.lines[0]).to.deep.include({
      count: 3,
      tokens: 5,
      name: 'Ada',
      list: [1, null, true],
      at: at.toISOString(),
    })
    expect(log.lines[0]).to.include({ note: 'Basic rules, token expected', msg: 'm' })
  })

  it('shows an error with its own kind, message, code, stack and cause', () => {
    const log = production()
    const error = Object.assign(new TypeError('wrong', { cause: new RangeError('deeper') }), { code: 'E_X' })
    log.logger.error({ err: error }, 'Failed')
    log.logger.error(error)
    const [named, bare] = log.lines as { msg: string; err: Record<string, unknown> }[]
    expect(named!.err).to.include({ type: 'TypeError', message: 'wrong', code: 'E_X' })
    expect(named!.err['cause']).to.include({ type: 'RangeError', message: 'deeper' })
    expect(named!.err['stack']).to.contain('log.test.ts')
    expect(bare).to.deep.include({ msg: 'wrong' })
    expect(bare!.err).to.include({ type: 'TypeError' })
    log.logger.error(new (class Missing extends Error {})('gone'))
    expect(log.lines[2]).to.have.nested.include({ 'err.type': 'Missing', 'err.message': 'gone' })
  })

  it('survives cycles, depth, getters that throw and huge lists', () => {
    const cycle: Record<string, unknown> = { self: null }
    cycle['self'] = cycle
    let deep: object = { end: 's3cr3t' }
    for (let level = 0; level < 50; level++) deep = { deep }
    const bad = {
      get token(): string {
        throw new Error('no')
      },
    }
    const list = Array.from({ length: 30_000 }, () => ({}))
    const shown = JSON.stringify(redact({ cycle, deep, bad, list }))
    expect(shown).to.contain('[circular]').and.to.contain('[not shown]').and.to.contain('[unreadable]')
  })

  const HOSTILE = [
    '-eyJ',
    '?a',
    '://a',
    '"a":"',
    'Bearer ',
    '&token',
    'a.b.',
    'a@',
    '://u:a/',
    '\\\\"',
    'a=',
    'token: ',
    'password=',
    'password:{',
    "password='",
    'password:"',
    'cookie: ',
    'password',
    '[',
    'code=',
    'a:/@',
  ]

  it('takes time that grows with the length of a hostile string', () => {
    for (const piece of HOSTILE) {
      const time = (count: number): number => {
        const text = piece.repeat(count)
        return leastTime(() => redactText(text))
      }
      expect(
        leastTime(() => redactText(piece.repeat(1_000_000 / piece.length))),
        piece,
      ).to.be.lessThan(50)
      // Quadratic time would be 100 times as long.
      expect(time(100_000) / Math.max(time(10_000), 0.1), piece).to.be.lessThan(40)
    }
  })

  it('knows the names of secrets', () => {
    for (const name of [
      'password',
      'newPassword',
      'X-Auth-Token',
      'client_secret',
      'apiKey',
      'Set-Cookie',
      'proxy-authorization',
      'user[password]',
      'accessTokens',
    ])
      expect(isSecretName(name), name).to.equal(true)
    for (const name of [
      'name',
      'tokenizer',
      'passwordless',
      'cookieless',
      'key',
      'author',
      'secretary',
      'status',
    ])
      expect(isSecretName(name), name).to.equal(false)
  })
})

describe('ctx in a log line', () => {
  it('is method, path, route and id, also for JSON.stringify and util.inspect', async () => {
    const log = production()
    const shown: string[] = []
    const app = createApp({ logger: log.logger, logRequests: false }).use(
      createRouter().get('/notes/:id', (ctx) => {
        ctx.log.info({ ctx, request: { headers: ctx.headers } }, 'Seen')
        shown.push(JSON.stringify(ctx), inspect(ctx), inspect({ nested: [ctx] }, { depth: 9 }))
      }),
    )
    await app.inject({
      url: '/notes/7?access_token=s3cr3t',
      headers: { ...headers, 'x-request-id': 'the-id' },
    })
    await app.close()
    const seen = { method: 'GET', path: '/notes/7', route: '/notes/:id', id: 'the-id' }
    expect(log.lines[0]!['ctx']).to.deep.equal(seen)
    expect(log.lines[0]).to.include({ requestId: 'the-id', ip: '127.0.0.1' })
    expect(JSON.parse(shown[0]!)).to.deep.equal(seen)
    expect(shown[1]).to.equal(inspect(seen))
    expect(shown.join() + log.text()).not.to.match(SECRETS)
  })
})

describe('LOG_LEVEL', () => {
  const written = (environment: 'production' | 'test', level?: string) => {
    const logger = createLogger(environment, env.from({ LOG_LEVEL: level }))
    return logger
  }

  it('rejects an unknown level at start', () => {
    expect(() => written('production', 'loud')).to.throw(StartupError, 'LOG_LEVEL')
    expect(() => written('test', 'loud')).to.throw(StartupError, 'LOG_LEVEL')
  })

  it('decides which lines are written', () => {
    for (const [level, expected] of [
      ['warn', ['c']],
      ['debug', ['a', 'b', 'c']],
      ['error', []],
    ] as const) {
      const log = production(level)
      log.logger.debug('a')
      log.logger.info('b')
      log.logger.warn('c')
      expect(
        log.lines.map(({ msg }) => msg),
        level,
      ).to.deep.equal(expected)
    }
  })

  it('is silent under test and info in production without a value', () => {
    expect(written('test')).to.equal(written('test', 'silent'))
    expect(written('production')).not.to.equal(written('test'))
  })
})

describe('The line and the event of a request', () => {
  const routes = () =>
    createRouter()
      .get('/notes/:id', () => 'hello')
      .get('/broken', () => {
        throw new Error('no')
      })

  async function serve(app: App): Promise<string> {
    return (await app.listen(0)).url
  }

  it('have fields, and the id is in the response', async () => {
    const log = production()
    const app = createApp({ logger: log.logger, logRequests: true }).use(routes())
    const url = await serve(app)
    const response = await fetch(`${url}/notes/7?access_token=s3cr3t`)
    await response.text()
    await app.close()
    const line = log.lines.find(({ event }) => event === 'request.completed')!
    expect(line).to.include({
      method: 'GET',
      path: '/notes/7',
      route: '/notes/:id',
      status: 200,
      aborted: false,
    })
    expect(line).to.include({ ip: '127.0.0.1', requestId: response.headers.get('x-request-id') })
    expect(line['ms']).to.be.a('number').and.to.be.at.least(0)
    expect(line['msg']).to.match(/^GET \/notes\/7 200 [\d.]+ ms$/)
    expect(log.text()).not.to.match(SECRETS)
  })

  throughBothAdapters((open) => {
    it('occur once for each request, however it ends', async () => {
      const arrival = deferred()
      const app = createApp({ logger: false }).use(
        routes().get('/waits', async ({ signal }) => {
          arrival.resolve()
          await once(signal, 'abort')
        }),
      )
      const seen: string[] = []
      const left = deferred()
      app.events.typed<RequestEvents>().on('request.completed', ({ path, route, status, aborted, ip }) => {
        seen.push([path, route, status, aborted, ip].join(' '))
        if (aborted) left.resolve()
      })
      const { url } = await open(app)
      for (const path of ['/notes/1', '/none', '/broken']) await (await fetch(url + path)).text()
      const req = request(`${url}/waits`).on('error', () => undefined)
      req.end()
      await arrival.promise
      req.destroy()
      await left.promise
      expect(seen).to.deep.equal([
        '/notes/1 /notes/:id 200 false 127.0.0.1',
        '/none  404 false 127.0.0.1',
        '/broken /broken 500 false 127.0.0.1',
        '/waits /waits 499 true 127.0.0.1',
      ])
    })
  })

  it('have no line for a route that is not logged, but an event', async () => {
    const log = production()
    const quiet = createRouter()
      .get('/quiet', { logRequests: false }, () => 'hello')
      .get('/heard', () => 'hello')
    const app = createApp({ logger: log.logger, logRequests: true }).use(quiet)
    const seen: string[] = []
    app.events.typed<RequestEvents>().on('request.completed', ({ path }) => void seen.push(path))
    await app.inject('/quiet')
    await app.inject('/heard')
    await app.close()
    expect(seen).to.deep.equal(['/quiet', '/heard'])
    // Request lines wait for up to 10 ms, in their order.
    while (!log.text().includes('/heard')) await nextTurn()
    expect(log.text()).not.to.include('/quiet')
  })

  it('reach no listener that another one adds meanwhile', async () => {
    const app = createApp({ logger: false }).use(routes())
    let calls = 0
    const again = (): void => {
      calls++
      if (calls < 9) app.events.on('request.completed', again)
    }
    app.events.on('request.completed', again)
    await app.inject('/notes/1')
    await app.close()
    expect(calls).to.equal(1)
  })

  it('also occur for requests through Koa and inject', async () => {
    const app = createApp({ logger: false }).use(routes())
    const seen: number[] = []
    app.events.typed<RequestEvents>().on('request.completed', ({ status }) => void seen.push(status))
    await app.inject('/notes/1')
    const server = createServer(app.koa.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    await (await fetch(`http://127.0.0.1:${port}/none`)).text()
    server.closeAllConnections()
    server.close()
    await app.close()
    expect(seen).to.deep.equal([200, 404])
  })
})
