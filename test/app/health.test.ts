import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, type App, type AppOptions } from 'mortar'
import { rawRequest } from '../support/raw-request.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'
import { recorder } from './recorder.ts'

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
        ['/livez/?verbose', 'live'],
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

    it('refuse a page of the framework and a route of a brick at their path, with both names', async () => {
      const route = createRouter().get('/up', () => 'up')
      const brick = defineBrick({ name: 'metrics', routes: [route] })
      const apps: readonly [App<object, object>, string][] = [
        [
          createApp({ openapi: { docs: '/livez' } }),
          'health.live is the path of the framework (openapi.docs)',
        ],
        [
          createApp({ openapi: { path: '/readyz' } }),
          'health.ready is the path of the framework (openapi.path)',
        ],
        [createApp({ health: { live: '/up' } }).use(brick), "health.live is the path of brick 'metrics'"],
      ]
      for (const [app, text] of apps) {
        const { code, message } = await startupErrorOf(() => app.ready())
        expect(code).to.equal('MORTAR_OPTION')
        expect(message).to.include(text)
      }
      const free = createApp({ health: { live: false }, openapi: { docs: '/livez' } })
      expect((await (await open(free)).fetch('/livez')).headers.get('content-type')).to.include('text/html')
    })

    it('have other paths, or none, by the option health', async () => {
      const other = await open(createApp({ health: { live: '/_/up', ready: false } }))
      expect((await other.fetch('/_/up')).status).to.equal(200)
      expect((await other.fetch('/livez')).status).to.equal(404)
      expect((await other.fetch('/readyz')).status).to.equal(404)
      for (const health of [false, { live: false, ready: false }] as const) {
        const none = await open(createApp({ health }))
        for (const path of ['/livez', '/readyz']) expect((await none.fetch(path)).status).to.equal(404)
      }
      const odd = await open(createApp({ health: { ready: '/~up/a.b-c' } }))
      for (const path of ['/livez', '/~up/a.b-c']) expect((await odd.fetch(path)).status).to.equal(200)
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
      [new Error('5 € ≠ 6 €'), '5 € ≠ 6 €'],
    ] as const) {
      const throws = (): never => {
        throw thrown
      }
      const app = createApp({ logger: false }).check('db', throws)
      const { body, headers } = await app.inject('/readyz')
      expect(headers['content-length']).to.equal(String(Buffer.byteLength(body)))
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
      const { mock: timer } = mock.method(globalThis, 'setTimeout')
      const waits = () => timer.calls.map((call) => call.arguments[1])
      for (const path of ['/livez', '/livez/?verbose']) expect((await fetch(url + path)).status).to.equal(200)
      // A process that starts is alive, and its probe does not wait.
      expect(waits()).to.not.include(500)
      const response = await fetch(`${url}/readyz`).finally(() => mock.reset())
      expect(response.status).to.equal(503)
      expect(await response.json()).to.deep.equal({ status: 'starting', failed: [] })
      expect(response.headers.get('connection')).to.equal('keep-alive')
      // Most probes have a time limit of one second.
      expect(waits()).to.include(500)
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
      expect(response.headers.get('connection')).to.equal('keep-alive')
      expect((await fetch(`${url}/livez`)).status).to.equal(200)
    })
  })

  it('stay 503 draining after a close during the start', async () => {
    const gate = deferred()
    const app = createApp().use(defineBrick({ name: 'slow', start: () => gate.promise }))
    await serving(app, async (url) => {
      const ready = app.ready().catch(() => undefined)
      const closing = app.close()
      gate.resolve()
      await Promise.all([ready, closing])
      const response = await fetch(`${url}/readyz`)
      expect([response.status, await response.json()]).to.deep.equal([
        503,
        { status: 'draining', failed: [] },
      ])
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
