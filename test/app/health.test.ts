import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  defineBrick,
  singleton,
  type App,
  type AppOptions,
  type HealthCheck,
  type Logger,
} from 'mortar'
import { rawRequest } from '../support/raw-request.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

const fails = (): never => {
  throw new Error('refused by postgres://user:secret@db')
}

describe('/livez and /readyz', () => {
  throughBothAdapters((open) => {
    it('respond with 200, no-store and a status', async () => {
      const app = await open(createApp())
      for (const [path, status] of [
        ['/livez', 'live'],
        ['/readyz', 'ready'],
        ['/readyz/', 'ready'],
        ['/readyz?verbose', 'ready'],
      ] as const) {
        const response = await app.fetch(path)
        expect(response.status).to.equal(200)
        expect(response.headers.get('cache-control')).to.equal('no-store')
        expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8')
        expect(await response.json()).to.deep.equal({ status })
      }
    })

    it('respond to a target in absolute form, as proxies send it', async () => {
      const { url } = await open(createApp())
      for (const path of ['/livez', '/readyz?verbose']) {
        const target = new URL(path, url)
        const request = `GET ${target.href} HTTP/1.1\r\nHost: ${target.host}\r\nConnection: close\r\n\r\n`
        expect((await rawRequest(Number(target.port), request)).status, path).to.equal(200)
      }
    })

    it('respond to HEAD without a body, and refuse other methods with 405', async () => {
      const app = await open(createApp())
      const head = await app.fetch('/readyz', { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length'), await head.text()]).to.deep.equal([
        200,
        '18',
        '',
      ])
      const post = await app.fetch('/livez', { method: 'POST' })
      expect([post.status, post.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD'])
      expect(post.headers.get('content-type')).to.equal('application/problem+json')
      expect(await post.json()).to.include({ code: 'method_not_allowed', status: 405 })
    })

    it('pass through no middleware of the application, of a brick or of Koa', async () => {
      let calls = 0
      const count = (_ctx: unknown, next: () => unknown): unknown => {
        calls += 1
        return next()
      }
      const inner = createApp()
        .use(count)
        .use(defineBrick({ name: 'a', middleware: [count] }))
      inner.koa.use(async (_ctx, next) => {
        calls += 1
        await next()
      })
      const app = await open(inner)
      for (const path of ['/livez', '/readyz']) expect((await app.fetch(path)).status).to.equal(200)
      expect(calls).to.equal(0)
      expect((await app.fetch('/livezz')).status).to.equal(404)
      expect(calls).to.equal(3)
    })

    it('are not logged and not in the OpenAPI document', async () => {
      const lines: string[] = []
      const app = await open(createApp({ logger: recorder(lines), logRequests: true }))
      await app.fetch('/livez')
      await app.fetch('/readyz')
      const document = await (await app.fetch('/openapi.json')).text()
      expect(lines.filter((line) => line.includes('livez') || line.includes('readyz'))).to.deep.equal([])
      expect(document).to.contain('openapi').and.not.to.contain('readyz').and.not.to.contain('livez')
    })

    it('give way to own routes of the application', async () => {
      const own = createRouter()
        .get('/livez', () => 'mine')
        .post('/readyz', () => 'posted')
      const app = await open(createApp().use(own))
      expect(await (await app.fetch('/livez')).text()).to.equal('mine')
      expect(await (await app.fetch('/readyz', { method: 'POST' })).text()).to.equal('posted')
      expect((await app.fetch('/readyz')).status).to.equal(405)
    })

    it('have other paths, or none, by the option health', async () => {
      const other = await open(createApp({ health: { live: '/_/up', ready: false } }))
      expect((await other.fetch('/_/up')).status).to.equal(200)
      expect((await other.fetch('/livez')).status).to.equal(404)
      expect((await other.fetch('/readyz')).status).to.equal(404)
      const none = await open(createApp({ health: false }))
      expect((await none.fetch('/livez')).status).to.equal(404)
    })

    it('report a failed check, and are unready only if it is critical', async () => {
      const app = await open(
        createApp({ logger: false, health: { critical: ['db'] } })
          .use(defineBrick({ name: 'cache', checks: { cache: fails } }))
          .check('db', { run: () => true }),
      )
      const reported = await app.fetch('/readyz')
      expect(reported.status).to.equal(200)
      expect(await reported.json()).to.deep.include({ status: 'ready', checks: { cache: 'failed' } })
      const broken = await open(
        createApp({ logger: false, health: { critical: ['db'] } })
          .check('db', () => false)
          .check('mail', fails),
      )
      const unready = await broken.fetch('/readyz')
      expect(unready.status).to.equal(503)
      expect(await unready.json()).to.deep.include({
        status: 'unready',
        failed: ['db'],
        checks: { db: 'failed', mail: 'failed' },
      })
      expect((await broken.fetch('/livez')).status).to.equal(200)
    })
  })

  it('show messages of failed checks, without secrets, but none in production', async () => {
    const bodyOf = async (options: AppOptions): Promise<string> => {
      const app = createApp({ logger: false, ...options }).check('db', fails)
      const { body } = await app.inject('/readyz')
      await app.close()
      return body
    }
    expect(await bodyOf({ environment: 'production' })).to.equal(
      '{"status":"ready","checks":{"db":"failed"}}',
    )
    expect(await bodyOf({ environment: 'development' }))
      .to.contain('refused by')
      .and.not.to.contain('secret@')
  })

  it('respond although a check throws a value that cannot be read', async () => {
    const unreadable = 'An error that cannot be read was thrown.'
    const getter = { get: (): never => fails() }
    for (const [thrown, text] of [
      [Object.create(null), unreadable],
      [Object.defineProperty(new Error('x'), 'message', getter), unreadable],
      [Object.assign(new Error('x'), { message: { a: 1 } }), '[object Object]'],
      [null, 'null'],
    ] as const) {
      const throws = (): never => {
        throw thrown
      }
      const app = createApp({ logger: false }).check('db', throws)
      const { body } = await app.inject('/readyz')
      expect(JSON.parse(body)).to.deep.equal({
        status: 'ready',
        checks: { db: 'failed' },
        errors: { db: text },
      })
      await app.close()
    }
  })

  it('show that the application starts, through a server of its own', async () => {
    let finish!: () => void
    const starting = new Promise<void>((resolve) => {
      finish = resolve
    })
    const app = createApp({ logger: false }).use(defineBrick({ name: 'slow', start: () => starting }))
    await serving(app, async (url) => {
      expect((await fetch(`${url}/livez`)).status).to.equal(200)
      const response = await fetch(`${url}/readyz`)
      expect(response.status).to.equal(503)
      expect(await response.json()).to.deep.equal({ status: 'starting', failed: [] })
      finish()
      await until(async () => (await fetch(`${url}/readyz`)).status === 200)
    })
  })

  it('are unready after a failed start', async () => {
    const app = createApp({ logger: false }).use(defineBrick({ name: 'bad', start: fails }))
    await serving(app, async (url) => {
      await app.ready().catch(() => undefined)
      const response = await fetch(`${url}/readyz`)
      expect(response.status).to.equal(503)
      expect(await response.json()).to.deep.equal({ status: 'unready', failed: ['start'] })
      expect((await fetch(`${url}/livez`)).status).to.equal(200)
    })
  })

  it('are 503 draining and 200 live while a request finishes during close()', async () => {
    let finish!: () => void
    const app = createApp().use(
      createRouter().get('/slow', async () => {
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return 'done'
      }),
    )
    await serving(app, async (url) => {
      const slow = fetch(`${url}/slow`)
      await until(async () => finish !== undefined)
      const closing = app.close()
      const response = await fetch(`${url}/readyz`)
      expect([response.status, response.headers.get('connection')]).to.deep.equal([503, 'close'])
      expect(await response.json()).to.deep.equal({ status: 'draining', failed: [] })
      expect((await fetch(`${url}/livez`)).status).to.equal(200)
      finish()
      expect(await (await slow).text()).to.equal('done')
      await closing
    })
  })
})

describe('A health check', () => {
  const ready = async (app: App): Promise<{ status: number; body: Record<string, unknown> }> => {
    const { statusCode, body } = await app.inject('/readyz')
    return { status: statusCode, body: JSON.parse(body) as Record<string, unknown> }
  }
  const withCheck = (check: HealthCheck): App =>
    createApp({ logger: false, health: { critical: ['db'] } }).check('db', check)

  it('gets the services and a signal', async () => {
    let seen: unknown
    const app = createApp().use(
      defineBrick({
        name: 'a',
        services: { pool: singleton(() => ({ size: 3 })) },
        checks: { pool: ({ pool }, signal) => void (seen = [pool.size, signal.aborted]) },
      }),
    )
    expect((await ready(app)).status).to.equal(200)
    expect(seen).to.deep.equal([3, false])
    await app.close()
  })

  it('runs once for any number of probes, and again when its result is old', async () => {
    let runs = 0
    const app = withCheck({
      run: async () => {
        runs += 1
        await wait(20)
      },
      cache: '1500ms',
    })
    await Promise.all(Array.from({ length: 20 }, () => ready(app)))
    expect(runs).to.equal(1)
    await wait(1600)
    await Promise.all([ready(app), ready(app)])
    expect(runs).to.equal(2)
    await app.close()
  })

  it('runs beside the others', async () => {
    let open = 0
    let most = 0
    const both = async (): Promise<void> => {
      most = Math.max(most, (open += 1))
      await wait(20)
      open -= 1
    }
    const app = createApp().check('a', both).check('b', both)
    await ready(app)
    expect(most).to.equal(2)
    await app.close()
  })

  it('fails after its timeout, aborts its signal, and has one run as long as that run is active', async () => {
    let runs = 0
    const signals: AbortSignal[] = []
    let settle!: () => void
    const app = withCheck({
      run: (_services, signal) => {
        runs += 1
        signals.push(signal)
        if (runs > 1) return undefined
        return new Promise<void>((resolve) => {
          settle = resolve
        })
      },
      timeout: '20ms',
      cache: 0,
    })
    expect((await ready(app)).status).to.equal(503)
    expect(signals[0]!.aborted).to.equal(true)
    expect((await ready(app)).body['failed']).to.deep.equal(['db'])
    expect(runs).to.equal(1)
    settle()
    await until(async () => (await ready(app)).status === 200)
    expect(runs).to.be.greaterThan(1)
    await app.close()
  })

  it('is logged when its result changes, not at every probe', async () => {
    const lines: string[] = []
    let isUp = false
    const app = createApp({ logger: recorder(lines) }).check('db', { run: () => isUp, cache: 0 })
    for (let probe = 0; probe < 3; probe++) await ready(app)
    isUp = true
    for (let probe = 0; probe < 3; probe++) await ready(app)
    const own = lines.filter((line) => line.includes("The check 'db'"))
    expect(own.map((line) => line.split(' ')[0])).to.deep.equal(['warn', 'info'])
    await app.close()
  })

  const wrong: readonly (readonly [string, () => unknown, string])[] = [
    ['a name that is not a word', () => createApp().check('a b', fails), 'MORTAR_CHECK'],
    ['a check without a function', () => createApp().check('db', {} as never), 'MORTAR_CHECK'],
    ['a value that is not a check', () => createApp().check('db', 5 as never), 'MORTAR_CHECK'],
    ['an unknown key', () => createApp().check('db', { run: fails, every: 5 } as never), 'MORTAR_CHECK'],
    [
      'a timeout in milliseconds',
      () => createApp().check('db', { run: fails, timeout: 5000 }),
      'MORTAR_CHECK',
    ],
    ['a timeout of 0', () => createApp().check('db', { run: fails, timeout: 0 }), 'MORTAR_CHECK'],
    [
      'a cache that cannot be read',
      () => createApp().check('db', { run: fails, cache: 'x' }),
      'MORTAR_CHECK',
    ],
    ['a wrong check of a brick', () => boot({ checks: { db: 5 as never } }), 'MORTAR_CHECK'],
    ['checks that are not an object', () => boot({ checks: [] as never }), 'MORTAR_BRICK_SHAPE'],
    ['two checks of one name', () => boot({ checks: { own: fails } }), 'MORTAR_CHECK_DUPLICATE'],
    [
      'a critical name without a check',
      () =>
        createApp({ health: { critical: ['bd'] } })
          .check('db', fails)
          .ready(),
      'MORTAR_CHECK_UNKNOWN',
    ],
    ['a value that is not a path', () => createApp({ health: { live: 'livez' } }), 'MORTAR_OPTION'],
    ['equal paths', () => createApp({ health: { live: '/a', ready: '/a' } }), 'MORTAR_OPTION'],
    ['an unknown option', () => createApp({ health: { path: '/a' } as never }), 'MORTAR_OPTION_UNKNOWN'],
  ]
  for (const [name, work, code] of wrong)
    it(`is refused at the start: ${name}`, async () => {
      expect((await startupErrorOf(work)).code).to.equal(code)
    })

  it('cannot be added after the start', async () => {
    const app = await createApp().ready()
    expect((await startupErrorOf(() => app.check('db', fails))).code).to.equal('MORTAR_TOO_LATE')
    await app.close()
  })
})

function boot(slots: object): Promise<unknown> {
  return createApp({ logger: false })
    .check('own', fails)
    .use(defineBrick({ name: 'odd', ...slots }))
    .ready()
}

function recorder(lines: string[]): Logger {
  const at =
    (level: string) =>
    (...given: readonly unknown[]): void =>
      void lines.push(`${level} ${given.map((part) => JSON.stringify(part)).join(' ')}`)
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return logger
}

async function serving(app: App, work: (url: string) => Promise<void>): Promise<void> {
  const server: Server = createServer(app.koa.callback())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
    await app.close()
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(5)
}
