import { expect } from 'chai'
import { StartupError } from '../../src/errors/startup-error.ts'
import { createScopes, type Scopes } from '../../src/routing/middleware-scopes.ts'

/** Scopes named by their prefix; a repeated prefix gets a number. */
function scopesOf(...prefixes: readonly string[]): Scopes {
  const scopes = createScopes()
  for (const [index, prefix] of prefixes.entries()) {
    const origin = prefixes.indexOf(prefix) === index ? prefix : `${prefix}#${index}`
    scopes.add({ prefix, middleware: { run: () => undefined, origin } })
  }
  return scopes
}
const origins = (chain: readonly { origin: string }[]) => chain.map(({ origin }) => origin)

describe('middleware scopes of a route', () => {
  const scopes = scopesOf('/users/:id', '/admin/deep', '/admin', '/', '/users', '/files/*path', '/café', '/')
  const rows: [pattern: string, chain: string[]][] = [
    ['/', ['/', '/#7']],
    ['/other', ['/', '/#7']],
    ['/admin', ['/', '/#7', '/admin']],
    ['/admin/x', ['/', '/#7', '/admin']],
    ['/admin/deep/:x', ['/', '/#7', '/admin', '/admin/deep']],
    ['/administrators', ['/', '/#7']],
    ['/ADMIN', ['/', '/#7']],
    ['/x/admin', ['/', '/#7']],
    ['/users', ['/', '/#7', '/users']],
    ['/users/:id', ['/', '/#7', '/users', '/users/:id']],
    ['/users/:user/posts', ['/', '/#7', '/users', '/users/:id']],
    ['/users/me', ['/', '/#7', '/users']],
    ['/users/*rest', ['/', '/#7', '/users']],
    ['/files/*path', ['/', '/#7', '/files/*path']],
    ['/files/a', ['/', '/#7']],
    ['/caf%C3%A9/x', ['/', '/#7', '/café']],
  ]
  for (const [pattern, chain] of rows)
    it(`surround ${pattern} by ${chain.join(' > ')}`, () =>
      expect(origins(scopes.chainFor(pattern))).to.deep.equal(chain))

  for (const [prefix, path] of [
    ['/admin', '/admin'],
    ['/:id', '/5'],
    ['/*path', '/a/b'],
  ] as const)
    it(`surround everything below ${prefix}, the only folder with middleware`, () => {
      const alone = scopesOf('/', prefix)
      expect(origins(alone.chainFor(prefix))).to.deep.equal(['/', prefix])
      expect(origins(alone.chainForPath(path))).to.deep.equal(['/', prefix])
    })

  it('are rejected with a bad prefix', () => {
    expect(() => scopesOf('/a/*')).to.throw(StartupError, '/a/*')
  })
})

describe('middleware scopes of a path without a route', () => {
  const scopes = scopesOf(
    '/',
    '/admin',
    '/users/:id',
    '/users/me/inbox',
    '/users/me',
    '/files/*path',
    '/café',
  )
  const rows: [path: string, chain: string[]][] = [
    ['/', ['/']],
    ['/nowhere', ['/']],
    ['/admin', ['/', '/admin']],
    ['/admin/', ['/', '/admin']],
    ['/admin/nowhere/at/all', ['/', '/admin']],
    ['/%61dmin/x', ['/', '/admin']],
    ['//admin', ['/', '/admin']],
    ['/administrators', ['/']],
    ['/ADMIN', ['/']],
    ['/admin%2Fx', ['/']],
    ['/users', ['/']],
    ['/users/5/x', ['/', '/users/:id']],
    ['/users/me/x', ['/', '/users/me']],
    ['/users/m%65/inbox/x', ['/', '/users/me', '/users/me/inbox']],
    ['/files', ['/']],
    ['/files/a/b', ['/', '/files/*path']],
    ['/caf%c3%a9', ['/', '/café']],
    ['/admin/%', ['/', '/admin']],
    ['/%zz', ['/']],
    ['', ['/']],
    ['*', ['/']],
  ]
  for (const [path, chain] of rows)
    it(`surround '${path}' by ${chain.join(' > ')}`, () =>
      expect(origins(scopes.chainForPath(path))).to.deep.equal(chain))
})
