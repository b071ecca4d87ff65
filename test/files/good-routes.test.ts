import { expect } from 'chai'
import { loadRoutes } from '../../src/files/load-routes.ts'
import { fixtureTrees } from './fixture-trees.ts'
import { createRecordingSink } from './recording-sink.ts'

interface Expected {
  readonly routes: readonly string[]
  readonly scopes: readonly string[]
  readonly warnings: readonly string[]
}

describe('a tree of routes', () => {
  for (const { name, expected, open } of fixtureTrees<Expected>('good'))
    it(`becomes its routes and scopes, in order: ${name}`, () =>
      open(async (directory) => {
        const sink = createRecordingSink()
        await loadRoutes(sink, directory)
        expect(sink.batches).to.have.length(1)
        const { routes, scopes } = sink.batches[0]!
        expect(routes.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(expected.routes)
        expect(scopes.map(({ prefix }) => prefix)).to.deep.equal(expected.scopes)
        expect(sink.warnings, sink.warnings.join('\n')).to.have.length(expected.warnings.length)
        for (const [index, warning] of expected.warnings.entries())
          expect(sink.warnings[index]).to.include(warning)
      }))
})
