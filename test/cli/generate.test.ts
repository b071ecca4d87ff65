import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createProject, type TestProject } from './project.ts'

describe('mortar generate route', function () {
  let project: TestProject
  before(() => void (project = createProject({ 'routes/index.get.ts': 'export default () => 1\n' })))
  after(() => project.remove())

  it('writes a file that is a working route', () => {
    const ran = project.mortar(['generate', 'route', 'PUT', '/shelves/:shelf/books/:id'])
    expect(ran.out).to.equal('routes/shelves/[shelf]/books/[id].put.ts\n')
    expect(project.mortar(['routes']).out).to.match(/PUT +\/shelves\/:shelf\/books\/:id +- +params/)
  })

  it('uses the application’s own route, and GET without a method', () => {
    project.write({ 'route.ts': `export { defineRoute as route } from 'mortar'\n` })
    const { out } = project.mortar(['generate', 'route', '/about'])
    expect(out).to.equal('routes/about/index.get.ts\n')
    expect(readFileSync(join(project.directory, 'routes/about/index.get.ts'), 'utf8')).to.include(
      '../../route.ts',
    )
  })

  it('rejects a second file for one endpoint, and a path that a file cannot have', () => {
    for (const [path, code] of [
      ['/', 'MORTAR_CLI_FILE'],
      ['/[..rest]', 'MORTAR_ROUTE_CATCH_ALL_MISTYPED'],
      ['/shelves/:other', 'MORTAR_ROUTE_PARAMETER_NAMES'],
    ]) {
      const ran = project.mortar(['generate', 'route', 'GET', path!])
      expect([ran.code, ran.out]).to.deep.equal([1, ''])
      expect(ran.err).to.include(code)
    }
  })

  const unreachable: readonly (readonly [path: string, says: string])[] = [
    ['/a/../b', "'..'"],
    ['/../../b', "'..'"],
    ['/./b', "'.'"],
    ['/a//b', 'two slashes'],
    ['//b', 'two slashes'],
    ['/%2e%2e/b', "'%2e%2e'"],
    ['/.well-known/b', "'.well-known'"],
    ['/_private/b', "'_private'"],
    ['/node_modules/b', "'node_modules'"],
  ]
  for (const [path, says] of unreachable)
    it(`rejects ${path} as an argument, because no file of routes has that path, and writes nothing`, () => {
      const ran = project.mortar(['generate', 'route', 'POST', path])
      expect([ran.code, ran.out]).to.deep.equal([2, ''])
      expect(ran.err).to.include(says).and.include('generate route GET')
      for (const file of ['routes/b', 'routes/a', 'b', 'routes/_private', 'routes/node_modules'])
        expect(existsSync(join(project.directory, file)), file).to.equal(false)
    })

  it('reads a slash at the end as none', () => {
    expect(project.mortar(['generate', 'route', 'DELETE', '/lamps/']).out).to.equal(
      'routes/lamps/index.delete.ts\n',
    )
  })
})
