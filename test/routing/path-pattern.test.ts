import { expect } from 'chai'
import { StartupError } from '../../src/errors/startup-error.ts'
import { openApiPath, parsePattern, patternOf } from '../../src/routing/path-pattern.ts'

const fixed = (value: string) => ({ kind: 'static', value })
const param = (name: string) => ({ kind: 'param', name })
const rest = (name: string) => ({ kind: 'catch-all', name })

describe('path pattern', () => {
  const readable: [path: string, segments: object[]][] = [
    ['/', []],
    ['/users', [fixed('users')]],
    ['/users/', [fixed('users')]],
    ['/users/:id', [fixed('users'), param('id')]],
    ['/users/:user_id/posts/:post-id', [fixed('users'), param('user_id'), fixed('posts'), param('post-id')]],
    ['/files/*path', [fixed('files'), rest('path')]],
    ['/:a/*b', [param('a'), rest('b')]],
    ['/café', [fixed('caf%C3%A9')]],
    ['/caf%c3%a9', [fixed('caf%C3%A9')]],
    ['/a b', [fixed('a%20b')]],
    ['/%61dmin', [fixed('admin')]],
    ['/a%2Fb', [fixed('a%2Fb')]],
    ['/items%3Abatch', [fixed('items:batch')]],
    ['/100%25', [fixed('100%25')]],
    ['/v1.0/~me/(x)/a+b@c', [fixed('v1.0'), fixed('~me'), fixed('(x)'), fixed('a+b@c')]],
  ]
  for (const [path, segments] of readable)
    it(`reads ${path}`, () => expect(parsePattern(path)).to.deep.equal(segments))

  const refused: [path: string, code: string][] = [
    ['', 'SLASH'],
    ['users', 'SLASH'],
    ['//', 'EMPTY_SEGMENT'],
    ['/a//b', 'EMPTY_SEGMENT'],
    ['//a', 'EMPTY_SEGMENT'],
    ['/a//', 'EMPTY_SEGMENT'],
    ['/:', 'PARAMETER'],
    ['/:a-:b', 'PARAMETER'],
    ['/:id.json', 'PARAMETER'],
    ['/:id?', 'PARAMETER'],
    ['/:id(\\d+)', 'PARAMETER'],
    ['/:1st', 'PARAMETER'],
    ['/:__proto__', 'PARAMETER'],
    ['/user-:id', 'PARAMETER'],
    ['/a*', 'PARAMETER'],
    ['/**', 'PARAMETER'],
    ['/*', 'CATCH_ALL'],
    ['/*path/more', 'CATCH_ALL'],
    ['/*a/*b', 'CATCH_ALL'],
    ['/:id/x/:id', 'TWICE'],
    ['/:id/*id', 'TWICE'],
    ['/users/{id}', 'SEGMENT'],
    ['/users/[id]', 'SEGMENT'],
    ['/search?q', 'SEGMENT'],
    ['/a#b', 'SEGMENT'],
    ['/100%', 'SEGMENT'],
    ['/%E9', 'SEGMENT'],
    ['/a/../b', 'SEGMENT'],
    ['/a/%2e', 'SEGMENT'],
  ]
  for (const [path, code] of refused)
    it(`refuses '${path}' (${code})`, () => {
      expect(() => parsePattern(path, 'routes/a.get.ts'))
        .to.throw(StartupError, 'routes/a.get.ts')
        .that.deep.includes({ code: `MORTAR_ROUTE_PATTERN_${code}`, files: ['routes/a.get.ts'] })
    })

  it('is written for OpenAPI with braces', () => {
    expect(openApiPath('/')).to.equal('/')
    expect(openApiPath('/users/:id/')).to.equal('/users/{id}')
    expect(openApiPath('/files/*path')).to.equal('/files/{path}')
    expect(openApiPath('/café/:a-b')).to.equal('/caf%C3%A9/{a-b}')
    expect(openApiPath('/%7Bx%7D')).to.equal('/%7Bx%7D')
  })

  it('is written back from its segments', () => {
    for (const path of ['/', '/a', '/a/:b/c', '/:a/*b']) expect(patternOf(parsePattern(path))).to.equal(path)
  })
})
