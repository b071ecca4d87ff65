import { expect } from 'chai'
import { BadRequest } from '../../src/errors/http-error.ts'
import { StartupError } from '../../src/errors/startup-error.ts'
import { createRouteTable, type RouteTable } from '../../src/routing/route-table.ts'
import type { Method } from '../../src/routing/route.ts'

/** A table whose targets are `METHOD /pattern`. */
function tableOf(...routes: readonly string[]): RouteTable<string> {
  const table = createRouteTable<string>()
  for (const route of routes) {
    const [method, path] = route.split(' ') as [Method, string]
    table.add(method, path, route, `routes/${route}.ts`)
  }
  return table
}

describe('route table: URL edge cases', () => {
  const table = tableOf(
    'GET /',
    'GET /a',
    'GET /a/b',
    'GET /admin',
    'GET /admin/panel',
    'GET /café',
    'GET /a+b',
    'GET /a%2Fb',
    'GET /100%25',
    'GET /%C3%BC/%20',
    'GET /users/me',
    'GET /users/:id',
    'GET /users/:id/posts',
    'GET /users/:id/posts/:post',
    'GET /users/new/draft',
    'GET /files/*path',
    'GET /files/readme',
    'GET /files/:name/meta',
    'GET /:tenant/settings',
    'GET /one/:x',
  )
  const NONE = undefined
  const BAD = 'malformed'
  type Row = [path: string, target: string | undefined, params?: Record<string, string>]
  const rows: Row[] = [
    // Slashes
    ['/', 'GET /'],
    ['//', NONE],
    ['///', NONE],
    ['', NONE],
    ['a', NONE],
    ['xa/b', NONE],
    ['xusers/1', NONE],
    ['*', NONE],
    ['/a', 'GET /a'],
    ['/a/', 'GET /a'],
    ['/a//', NONE],
    ['//a', NONE],
    ['/a/b', 'GET /a/b'],
    ['/a/b/', 'GET /a/b'],
    ['/a//b', NONE],
    ['/a/b//', NONE],
    ['/users/', NONE],
    ['/users//', NONE],
    ['/users//posts', NONE],
    ['/users/1/', 'GET /users/:id', { id: '1' }],
    ['/users/1//', NONE],
    ['/users/1/posts/', 'GET /users/:id/posts', { id: '1' }],
    ['/users/1//posts', NONE],
    ['/users/%2F', 'GET /users/:id', { id: '/' }],
    ['/%2F', NONE],
    ['/a%2f', NONE],
    // Specificity and backtracking
    ['/users/me', 'GET /users/me'],
    ['/users/me/', 'GET /users/me'],
    ['/users/me/posts', 'GET /users/:id/posts', { id: 'me' }],
    ['/users/new', 'GET /users/:id', { id: 'new' }],
    ['/users/new/draft', 'GET /users/new/draft'],
    ['/users/new/posts', 'GET /users/:id/posts', { id: 'new' }],
    ['/users/new/posts/7', 'GET /users/:id/posts/:post', { id: 'new', post: '7' }],
    ['/users/new/other', NONE],
    ['/users/settings', 'GET /users/:id', { id: 'settings' }],
    ['/acme/settings', 'GET /:tenant/settings', { tenant: 'acme' }],
    ['/a/settings', 'GET /:tenant/settings', { tenant: 'a' }],
    ['/files/readme', 'GET /files/readme'],
    ['/files/readme/meta', 'GET /files/:name/meta', { name: 'readme' }],
    ['/files/readme/x', 'GET /files/*path', { path: 'readme/x' }],
    ['/files/x/meta/y', 'GET /files/*path', { path: 'x/meta/y' }],
    // Case
    ['/A', NONE],
    ['/ADMIN', NONE],
    ['/Users/me', NONE],
    ['/users/ME', 'GET /users/:id', { id: 'ME' }],
    // Catch-all
    ['/files', NONE],
    ['/files/', NONE],
    ['/files//', NONE],
    ['/files/a', 'GET /files/*path', { path: 'a' }],
    ['/files/a/', 'GET /files/*path', { path: 'a' }],
    ['/files/a/b.txt', 'GET /files/*path', { path: 'a/b.txt' }],
    ['/files/a%2Fb', 'GET /files/*path', { path: 'a/b' }],
    ['/files//a', NONE],
    ['/files/a//b', NONE],
    ['/files/a//', NONE],
    ['/files/a..b', 'GET /files/*path', { path: 'a..b' }],
    ['/files/...', 'GET /files/*path', { path: '...' }],
    ['/files/..', BAD],
    ['/files/../etc', BAD],
    ['/files/a/..', BAD],
    ['/files/a/../', BAD],
    ['/files/%2e%2e', BAD],
    ['/files/%2E%2e/x', BAD],
    ['/files/%2e.', BAD],
    ['/files/.%2e/x', BAD],
    ['/files/a%2F..%2Fb', BAD],
    ['/files/..%2f', BAD],
    ['/files/a%5C..%5Cb', BAD],
    ['/files/..\\b', BAD],
    ['/files/%252e%252e', 'GET /files/*path', { path: '%2e%2e' }],
    // Percent-encoding
    ['/users/a%20b', 'GET /users/:id', { id: 'a b' }],
    ['/users/a+b', 'GET /users/:id', { id: 'a+b' }],
    ['/users/a%2Fb', 'GET /users/:id', { id: 'a/b' }],
    ['/users/a%2fb/posts', 'GET /users/:id/posts', { id: 'a/b' }],
    ['/users/%2541', 'GET /users/:id', { id: '%41' }],
    ['/users/%25', 'GET /users/:id', { id: '%' }],
    ['/users/%E2%82%AC', 'GET /users/:id', { id: '€' }],
    ['/users/%00', 'GET /users/:id', { id: '\0' }],
    ['/users/m%65', 'GET /users/me'],
    ['/users/%6D%65/', 'GET /users/me'],
    ['/%75sers/1', 'GET /users/:id', { id: '1' }],
    ['/%61dmin', 'GET /admin'],
    ['/%61%64%6d%69%6E', 'GET /admin'],
    ['/%61dmin/p%61nel', 'GET /admin/panel'],
    ['/one/%61', 'GET /one/:x', { x: 'a' }],
    ['/caf%C3%A9', 'GET /café'],
    ['/caf%c3%a9', 'GET /café'],
    ['/%63af%C3%A9/', 'GET /café'],
    ['/a+b', 'GET /a+b'],
    ['/a%2Bb', 'GET /a+b'],
    ['/a%2Fb', 'GET /a%2Fb'],
    ['/a%2fb', 'GET /a%2Fb'],
    ['/100%25', 'GET /100%25'],
    ['/%c3%bc/%20', 'GET /%C3%BC/%20'],
    // Malformed escapes, also where no route is
    ['/users/%', BAD],
    ['/users/%4', BAD],
    ['/users/%zz', BAD],
    ['/users/%E0%A4%A', BAD],
    ['/users/%E0%A4', BAD],
    ['/users/%FF', BAD],
    ['/users/%C3/%A9', BAD],
    ['/users/%c0%af', BAD],
    ['/users/%ED%A0%80', BAD],
    ['/nowhere/%', BAD],
    ['/%u0041', BAD],
    // Dots mean nothing outside a catch-all
    ['/a/.', NONE],
    ['/admin/../a', NONE],
    ['/users/..', 'GET /users/:id', { id: '..' }],
    // Names that objects inherit
    ['/__proto__', NONE],
    ['/constructor', NONE],
    ['/users/__proto__', 'GET /users/:id', { id: '__proto__' }],
  ]
  for (const [path, target, params] of rows)
    it(`${target === BAD ? 'refuses' : target === NONE ? 'does not know' : 'knows'} '${path}'`, () => {
      if (target === BAD)
        expect(() => table.find('GET', path))
          .to.throw(BadRequest)
          .that.includes({ code: 'malformed_path', status: 400 })
      else {
        const match = table.find('GET', path)
        expect(match?.target).to.equal(target)
        if (match) expect({ ...match.params }).to.deep.equal(params ?? {})
      }
    })
})

describe('route table: many static segments', () => {
  // Each has the hash of each other in the usual sum by powers of 31.
  const alike = ['AaAa', 'AaBB', 'BBAa', 'BBBB']

  it('are distinguished when their hashes are equal', () => {
    const table = tableOf(...alike.slice(1).map((segment) => `GET /${segment}/:id`))
    for (const segment of alike.slice(1))
      expect(table.find('GET', `/${segment}/1`)?.target).to.equal(`GET /${segment}/:id`)
    expect(table.find('GET', `/${alike[0]}/1`)).to.equal(undefined)
  })

  it('are all found, but no prefix or extension of them', () => {
    const names = Array.from({ length: 3000 }, (_, index) => `res${index * 7}`)
    const table = tableOf(...names.map((name) => `GET /${name}/:id`))
    for (const name of names) expect(table.find('GET', `/${name}/1`)?.target).to.equal(`GET /${name}/:id`)
    for (const other of ['res', 'res1', 're', 'res7x', 'res20994', '', 'Res7'])
      expect(table.find('GET', `/${other}/1`), other).to.equal(undefined)
  })
})

describe('route table: methods', () => {
  const table = tableOf(
    'GET /users/me',
    'DELETE /users/:id',
    'PATCH /users/:id',
    'POST /users',
    'OPTIONS /users',
    'GET /head',
    'HEAD /head',
    'HEAD /only-head',
    'PUT /*rest',
  )
  const targetOf = (method: string, path: string) => table.find(method, path)?.target

  it('handles HEAD by GET, or by its own route', () => {
    expect(targetOf('HEAD', '/users/me')).to.equal('GET /users/me')
    expect(targetOf('HEAD', '/head')).to.equal('HEAD /head')
    expect(targetOf('GET', '/only-head')).to.equal(undefined)
  })

  it('falls through to a less specific path that has the method', () => {
    expect(table.find('DELETE', '/users/me')).to.deep.include({ target: 'DELETE /users/:id' })
    expect(table.find('DELETE', '/users/me')?.params).to.include({ id: 'me' })
    expect(targetOf('PUT', '/users/me')).to.equal('PUT /*rest')
    expect(targetOf('POST', '/users/me')).to.equal(undefined)
  })

  it('lists the methods of every pattern that matches, HEAD with GET and always OPTIONS, in one order', () => {
    expect(table.allowed('/users/me')).to.deep.equal(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    expect(table.allowed('/users/5/')).to.deep.equal(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    expect(table.allowed('/users')).to.deep.equal(['POST', 'PUT', 'OPTIONS'])
    expect(table.allowed('/only-head')).to.deep.equal(['HEAD', 'PUT', 'OPTIONS'])
    expect(table.allowed('/%75sers')).to.deep.equal(['POST', 'PUT', 'OPTIONS'])
  })

  it('lists nothing for an unknown path', () => {
    expect(table.allowed('/')).to.deep.equal([])
    expect(table.allowed('//')).to.deep.equal([])
    expect(tableOf().allowed('/a')).to.deep.equal([])
  })

  it('finds no method outside its list or in another case', () => {
    for (const method of ['PROPFIND', 'get', '__proto__', ''])
      expect(targetOf(method, '/users/me')).to.equal(undefined)
  })
})

describe('route table: parameters', () => {
  it('have only own keys', () => {
    const { params } = tableOf('GET /:constructor/:toString').find('GET', '/a/b')!
    expect(Object.keys(params)).to.deep.equal(['constructor', 'toString'])
    expect('hasOwnProperty' in params).to.equal(false)
    expect('constructor' in tableOf('GET /a').find('GET', '/a')!.params).to.equal(false)
  })

  it('of a path without parameters are one shared frozen object', () => {
    const { params } = tableOf('GET /a').find('GET', '/a')!
    expect(Object.isFrozen(params)).to.equal(true)
    expect(() => Object.assign(params, { leaked: true })).to.throw(TypeError)
    expect(tableOf('GET /b').find('GET', '/b')!.params).to.deep.equal({})
  })

  it('are a new object for each match', () => {
    const table = tableOf('GET /:id')
    expect(table.find('GET', '/1')!.params).not.to.equal(table.find('GET', '/1')!.params)
  })
})

describe('route table: conflicts', () => {
  const conflicts: [first: string, second: string, code: string][] = [
    ['GET /a', 'GET /a', 'MORTAR_ROUTE_DUPLICATE'],
    ['GET /a', 'GET /a/', 'MORTAR_ROUTE_DUPLICATE'],
    ['GET /', 'GET /', 'MORTAR_ROUTE_DUPLICATE'],
    ['GET /:id', 'GET /:id', 'MORTAR_ROUTE_DUPLICATE'],
    ['GET /*rest', 'GET /*rest', 'MORTAR_ROUTE_DUPLICATE'],
    ['GET /café', 'GET /caf%C3%A9', 'MORTAR_ROUTE_DUPLICATE'],
    ['GET /:id', 'GET /:slug', 'MORTAR_ROUTE_PARAMETER_NAMES'],
    ['GET /:id', 'POST /:slug', 'MORTAR_ROUTE_PARAMETER_NAMES'],
    ['GET /users/:id', 'GET /users/:user/posts', 'MORTAR_ROUTE_PARAMETER_NAMES'],
    ['GET /a/*b', 'POST /a/*c', 'MORTAR_ROUTE_PARAMETER_NAMES'],
    ['GET /a', 'GET /A', 'MORTAR_ROUTE_CASE'],
    ['GET /a', 'POST /A', 'MORTAR_ROUTE_CASE'],
    ['GET /Users/:id', 'GET /users/:id', 'MORTAR_ROUTE_CASE'],
    ['GET /É', 'GET /é', 'MORTAR_ROUTE_CASE'],
  ]
  for (const [first, second, code] of conflicts)
    it(`refuses ${second} beside ${first} (${code})`, () => {
      const table = tableOf(first)
      const [method, path] = second.split(' ') as [Method, string]
      expect(() => table.add(method, path, second, 'routes/second.ts'))
        .to.throw(StartupError)
        .that.satisfies((error: StartupError) => {
          expect(error.message).to.include(`routes/${first}.ts`).and.include('routes/second.ts')
          expect(error.files).to.deep.equal([`routes/${first}.ts`, 'routes/second.ts'])
          expect(error.code).to.equal(code)
          return true
        })
      expect(table.entries().map((entry) => entry.target)).to.deep.equal([first])
    })

  it('lets paths differ by segment kind, length or an escaped slash', () => {
    const routes = [
      'GET /a',
      'GET /:a',
      'GET /*a',
      'GET /a/b',
      'GET /a%2Fb',
      'GET /a%2FB/c',
      'GET /A/:x',
      'POST /a',
    ]
    expect(tableOf(...routes).entries()).to.have.length(routes.length)
  })

  it('names no file if an origin is not a file', () => {
    const table = createRouteTable([{ method: 'GET', path: '/a', target: 1, origin: 'brick auth' }])
    expect(() => table.add('GET', '/a', 2, 'router /'))
      .to.throw(StartupError, 'brick auth')
      .that.has.deep.property('files', [])
  })
})

describe('route table: change', () => {
  it('adds all routes of a list or none', () => {
    const table = tableOf('GET /a')
    const entry = (path: string) => ({ method: 'GET' as const, path, target: path, origin: 'routes/list.ts' })
    expect(() => table.addAll([entry('/b'), entry('/:id'), entry('/a')])).to.throw(StartupError, 'GET /a')
    expect(table.entries()).to.have.length(1)
    expect(table.find('GET', '/b')).to.equal(undefined)
    table.addAll([entry('/b'), entry('/:slug')])
    expect(table.find('GET', '/b')!.target).to.equal('/b')
    expect(table.find('GET', '/c')!.target).to.equal('/:slug')
  })

  it('can be rebuilt from its entries, without an entry or with another target', () => {
    const table = tableOf('GET /a', 'GET /:id')
    const changed = createRouteTable(
      table
        .entries()
        .filter((entry) => entry.path !== '/a')
        .map((entry) => ({ ...entry, target: 'new' })),
    )
    expect(changed.find('GET', '/a')).to.deep.include({ target: 'new' })
    expect(table.find('GET', '/a')).to.deep.include({ target: 'GET /a' })
  })
})
