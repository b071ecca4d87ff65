import { join } from 'node:path'
import { expect } from 'chai'
import { createApp, createRouter, StartupError, type Middleware } from 'mortar'
import type { ProjectApp } from '../../src/cli/project/import-app.ts'
import { loadRoutes } from '../../src/files/load-routes.ts'
import type { RouteBatch } from '../../src/routing/route-sink.ts'
import { failureOf } from './failure-of.ts'
import { withTree } from './fixture-trees.ts'

const ROUTES = join(import.meta.dirname, '../fixtures/routes/served')

describe('an application with a directory of routes', () => {
  const app = createApp({ environment: 'test' })

  before(async () => {
    await loadRoutes(app, ROUTES)
    await app.ready()
  })
  after(() => app.close())

  const answers: readonly [request: string, status: number, body: unknown, scopes: string][] = [
    ['GET /', 200, 'root', 'root'],
    ['GET /users', 200, ['ada'], 'root'],
    ['GET /users/', 200, ['ada'], 'root'],
    ['GET /users/me', 200, 'me', 'root'],
    ['GET /users/7', 200, { id: 7 }, 'root, user 7'],
    ['PATCH /users/7', 200, { patched: '7' }, 'root, user 7'],
    ['PATCH /users/me', 200, { patched: 'me' }, 'root, user me'],
    ['GET /users/7/posts', 200, { postsOf: '7' }, 'root, user 7'],
    ['GET /users/7/pets/1', 200, { rest: '7/pets/1' }, 'root'],
    ['GET /users/me/posts', 200, { postsOf: 'me' }, 'root, user me'],
    ['GET /files/a/b/c.txt', 200, { path: 'a/b/c.txt' }, 'root'],
    ['GET /files/a%2Fb', 200, { path: 'a/b' }, 'root'],
    ['GET /admin/reports', 200, 'reports', 'root, admin'],
    ['GET /admin/closed', 503, 'closed', 'root, admin'],
    ['GET /administrators', 200, 'administrators', 'root'],
    ['GET /caf%C3%A9', 200, 'coffee', 'root'],
    ['GET /sitemap.xml', 200, '<urlset/>', 'root'],
  ]
  for (const [request, status, body, scopes] of answers)
    it(`responds to ${request} with the most specific route, inside its middleware`, async () => {
      const response = await send(request)
      expect(response.statusCode).to.equal(status)
      expect(typeof body === 'string' ? response.body : response.json()).to.deep.equal(body)
      expect(scopesOf(response.headers)).to.equal(scopes)
    })

  const refusals: readonly [request: string, status: number, allow: string | undefined, scopes: string][] = [
    ['GET /nothing', 404, undefined, 'root'],
    ['GET /files', 404, undefined, 'root'],
    ['GET /admin', 404, undefined, 'root, admin'],
    ['GET /admin/nothing', 404, undefined, 'root, admin'],
    ['GET /ADMIN/reports', 404, undefined, 'root'],
    ['GET /empty', 404, undefined, 'root, empty'],
    ['GET /empty/nothing', 404, undefined, 'root, empty'],
    ['GET /_mark', 404, undefined, 'root'],
    ['DELETE /users', 405, 'GET, HEAD, POST, OPTIONS', 'root'],
    ['DELETE /admin/reports', 405, 'GET, HEAD, OPTIONS', 'root, admin'],
    ['DELETE /users/7', 405, 'GET, HEAD, PATCH, OPTIONS', 'root, user'],
    ['GET /files/..%2Fsecret', 400, undefined, 'root'],
    ['GET /users/%zz', 400, undefined, 'root'],
  ]
  for (const [request, status, allow, scopes] of refusals)
    it(`responds to ${request} with ${status}, inside the middleware of the prefix`, async () => {
      const response = await send(request)
      expect(response.statusCode).to.equal(status)
      expect(response.headers['allow']).to.equal(allow)
      expect(scopesOf(response.headers)).to.satisfy((found: string) => found.startsWith(scopes))
    })

  it('responds to HEAD as to GET, without the body', async () => {
    const response = await send('HEAD /users')
    expect([response.statusCode, response.body]).to.deep.equal([200, ''])
  })

  it('responds to OPTIONS with the methods of the path', async () => {
    const response = await send('OPTIONS /users/7')
    expect([response.statusCode, response.headers['allow']]).to.deep.equal([204, 'GET, HEAD, PATCH, OPTIONS'])
  })

  it('validates what the separate exports of a module declare', async () => {
    const sent = (payload: object) => app.inject({ method: 'POST', url: '/users', payload })
    expect((await sent({ name: 'Ada' })).statusCode).to.equal(201)
    expect((await sent({})).statusCode).to.equal(422)
  })

  it('responds with the errors that a module throws', async () => {
    const response = await send('GET /teams')
    expect([response.statusCode, response.json().detail]).to.deep.equal([404, 'There are no teams.'])
  })

  it('validates what a definition declares', async () => {
    expect((await send('GET /users/ada')).statusCode).to.equal(422)
  })

  function send(request: string) {
    const [method, url] = request.split(' ') as ['GET', string]
    return app.inject({ method, url })
  }
})

describe('loadRoutes beside the rest of an application', () => {
  const createQuietApp = () => createApp({ environment: 'test' })

  it('delays ready() until it is complete', async () => {
    const app = createQuietApp()
    void loadRoutes(app, ROUTES)
    await app.ready()
    expect((await app.inject('/users/me')).body).to.equal('me')
    await app.close()
  })

  it('delays ready() also if it begins at the end of another call', () =>
    withTree(['late.get.ts'], async (directory) => {
      const app = createQuietApp()
      const loadBoth = async (): Promise<void> => {
        await loadRoutes(app, ROUTES)
        await loadRoutes(app, directory)
      }
      void loadBoth()
      await app.ready()
      expect((await app.inject('/late')).body).to.equal('ok')
      await app.close()
    }))

  it('makes ready() reject when a convention is broken, even if its promise was not awaited', () =>
    withTree(['users.ts'], async (directory) => {
      const app = createQuietApp()
      loadRoutes(app, directory).catch(() => undefined)
      expect(await failureOf(app.ready())).to.be.instanceOf(StartupError)
      await app.close()
    }))

  it('adds routes after the start, which work immediately', () =>
    withTree(['late.get.ts', 'late/[id].get.ts'], async (directory) => {
      const app = createQuietApp()
      await app.ready()
      expect((await app.inject('/late')).statusCode).to.equal(404)
      await loadRoutes(app, directory)
      expect((await app.inject('/late')).body).to.equal('ok')
      expect((await app.inject('/late/1')).body).to.equal('ok')
      await app.close()
    }))

  it('wraps the routes that stay when a directory with other middleware replaces it', async () => {
    const app = createQuietApp().use(createRouter().get('/code', () => 'code')) as unknown as ProjectApp
    const batchOf = (name: string): RouteBatch => {
      const run: Middleware = (ctx, next) => {
        ctx.append('x-scopes', name)
        return next()
      }
      return {
        directory: '/routes',
        routes: [],
        scopes: [{ prefix: '/', middleware: { run, origin: name } }],
      }
    }
    app.addRoutes(batchOf('first'))
    app.addRoutes({ ...batchOf('inside'), directory: '/others' })
    await app.ready()
    for (const name of ['second', 'third']) {
      app.replaceRoutes(batchOf(name))
      expect(scopesOf((await app.inject('/code')).headers)).to.equal(`${name}, inside`)
    }
    // A directory that could not be loaded before is the innermost one.
    app.replaceRoutes({ ...batchOf('new'), directory: '/new' })
    expect(scopesOf((await app.inject('/code')).headers)).to.equal('third, inside, new')
    await app.close()
  })

  it('shares one table with routers, and names both sides of a conflict', () =>
    withTree(['users.get.ts'], async (directory) => {
      const app = createQuietApp().use(createRouter().get('/users', () => 'router'))
      const work = loadRoutes(app, directory).then(() => app.ready())
      const { message } = (await failureOf(work)) as Error
      expect(message).to.include('users.get.ts').and.include('router /')
      await app.close()
    }))

  it('loads two directories into one application', () =>
    withTree(['a.get.ts'], (first) =>
      withTree(['b.get.ts'], async (second) => {
        const app = createQuietApp()
        await Promise.all([loadRoutes(app, first), loadRoutes(app, second)])
        expect((await app.inject('/a')).body).to.equal('ok')
        expect((await app.inject('/b')).body).to.equal('ok')
        await app.close()
      }),
    ))
})

function scopesOf(headers: Readonly<Record<string, unknown>>): string {
  return [headers['x-scopes'] ?? []].flat().join(', ')
}
