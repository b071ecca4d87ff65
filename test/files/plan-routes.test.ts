import { expect } from 'chai'
import * as fc from 'fast-check'
import { isIgnoredFolder } from '../../src/files/base-name.ts'
import { parseFileName } from '../../src/files/parse-file-name.ts'
import { planRoutes } from '../../src/files/plan-routes.ts'
import { seedFor } from '../support/seed.ts'

describe('the name of a route file', () => {
  const names: readonly [name: string, meaning: string][] = [
    ['index.get.ts', 'GET /'],
    ['users.get.ts', 'GET /users'],
    ['[id].patch.mts', 'PATCH /:id'],
    ['[...path].get.ts', 'GET /*path'],
    ['sitemap.xml.get.ts', 'GET /sitemap.xml'],
    // As macOS may write é, in two characters; clients send it as one.
    ['cafe\u0301/[id].get.ts', 'GET /caf\u00e9/:id'],
    ['index.html.get.js', 'GET /index.html'],
    ['v1.2.options.jsx', 'OPTIONS /v1.2'],
    ['_middleware.ts', 'middleware /'],
    ['users/[id]/index.get.ts', 'GET /users/:id'],
    ['users/[id]/posts.post.ts', 'POST /users/:id/posts'],
    ['users/_middleware.ts', 'middleware /users'],
    ['_lib/users.get.ts', 'ignored'],
    ['users/[id/posts.get.ts', 'MORTAR_ROUTE_BRACKET_UNCLOSED'],
    ['_middleware.test.ts', 'ignored'],
    ['_middleware.d.ts', 'ignored'],
    ['_users.get.ts', 'ignored'],
    ['users.get.d.mts', 'ignored'],
    ['users.get.test.tsx', 'ignored'],
    ['users.get.TS', 'ignored'],
    ['users.get.json', 'ignored'],
    ['users.get', 'ignored'],
    ['.get', 'ignored'],
    ['..get.ts', 'ignored'],
    ['[...path].ts', 'MORTAR_ROUTE_METHOD_MISSING'],
    ['[...path.ts', 'MORTAR_ROUTE_METHOD_MISSING'],
    ['[..path].fetch.ts', 'MORTAR_ROUTE_METHOD_UNKNOWN'],
    ['middleware.ts', 'MORTAR_ROUTE_METHOD_MISSING'],
  ]
  for (const [name, meaning] of names)
    it(`means ${meaning}: ${name}`, () => expect(describeName(name)).to.equal(meaning))

  it('suggests _middleware.ts for middleware.ts', () => {
    const parsed = parseFileName('middleware.ts')
    expect(parsed)
      .to.have.nested.property('faults[0].finding.remedy')
      .that.includes('Did you mean _middleware.ts')
  })

  it('is ignored in private, hidden and installed folders', () => {
    expect(['_lib', '.git', 'node_modules', 'users', '[id]'].filter(isIgnoredFolder)).to.deep.equal([
      '_lib',
      '.git',
      'node_modules',
    ])
  })
})

describe('planRoutes', () => {
  const part = fc.constantFrom(
    '',
    'users',
    'Users',
    '[id]',
    '[slug]',
    '[...path]',
    '[..x]',
    '[a',
    '_x',
    '(g)',
    'a-[b]',
    '[]',
    'x?',
    '.hid',
    'index',
  )
  const ending = fc.constantFrom(
    '.get.ts',
    '.get.js',
    '.post.ts',
    '.ts',
    '.fetch.ts',
    '/_middleware.ts',
    '.d.ts',
  )
  const path = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), ending)
    .map(([parts, end]) => parts.filter((text) => text !== '').join('/') + end)
  const paths = fc.uniqueArray(path, { maxLength: 12 })

  it('returns the same plan for the same files in any order', () => {
    fc.assert(
      fc.property(paths, fc.infiniteStream(fc.nat()), (files, keys) => {
        const other = files
          .map((file) => ({ file, key: keys.next().value as number }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ file }) => file)
        expect(summary(other)).to.deep.equal(summary(files))
      }),
      { seed: seedFor('plan-routes order') },
    )
  })

  it('never reports one fault twice, and names files that exist', () => {
    fc.assert(
      fc.property(paths, (files) => {
        const { problems } = summary(files)
        expect(new Set(problems).size).to.equal(problems.length)
        for (const problem of planRoutes(files).problems) {
          expect(problem.files).to.not.deep.equal([])
          for (const file of problem.files) expect(files).to.include(file)
        }
      }),
      { seed: seedFor('plan-routes faults') },
    )
  })

  it('reports one fault of two folders for each of them', () => {
    const { problems } = planRoutes(['(a)/x.get.ts', '(a)/y.get.ts', '(b)/x.get.ts'])
    expect(problems.map(({ files }) => files)).to.deep.equal([
      ['(a)/x.get.ts', '(a)/y.get.ts'],
      ['(b)/x.get.ts'],
    ])
  })

  it('reads no private file of CommonJS as middleware', () => {
    for (const file of ['_middleware.cjs', '_middleware.cts', '_midleware.cjs'])
      expect(planRoutes([file]), file).to.deep.include({ files: [], problems: [], warnings: [] })
  })

  it('sorts by code unit, not by locale', () => {
    const plan = planRoutes([
      'é.get.ts',
      'z.get.ts',
      'a.get.ts',
      'Z.post.ts',
      '[id].get.ts',
      '_middleware.ts',
    ])
    expect(plan.files.map(({ file }) => file)).to.deep.equal([
      'Z.post.ts',
      '[id].get.ts',
      '_middleware.ts',
      'a.get.ts',
      'z.get.ts',
      'é.get.ts',
    ])
  })
})

function describeName(name: string): string {
  const parsed = parseFileName(name)
  if (parsed.kind === 'ignored') return parsed.kind
  const [fault] = parsed.faults
  if (fault !== undefined) return fault.finding.code
  const { plan } = parsed
  return plan?.kind === 'route' ? `${plan.method} ${plan.pattern}` : `${plan?.kind} ${plan?.pattern}`
}

function summary(files: readonly string[]) {
  const plan = planRoutes(files)
  return { files: plan.files, problems: plan.problems.map(({ message }) => message), warnings: plan.warnings }
}
