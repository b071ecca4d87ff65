import { expect } from 'chai'
import * as fc from 'fast-check'
import { createRouteTable, type TableEntry } from '../../src/routing/route-table.ts'
import { METHODS } from '../../src/routing/route.ts'
import { casesOf, seedFor } from '../support/seed.ts'

// One name per position, so that random patterns rarely conflict.
const WORDS = ['a', 'b', 'ab', 'x%2Fy', 'é']
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.constant(':') },
)
const randomPattern = fc
  .tuple(fc.array(segment, { maxLength: 4 }), fc.integer({ min: 0, max: 4 }))
  .map(([parts, tail]) => {
    const named = parts.map((part, index) => (part === ':' ? `:p${index}` : part))
    return `/${[...named, ...(tail === 0 ? ['*rest'] : [])].join('/')}`
  })
const route = fc.record({ method: fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS'), path: randomPattern })
const requestPath = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', 'ab', 'A', '%61', 'x%2fy', '%C3%A9', 'c%20d', ''), { maxLength: 6 }),
    fc.constantFrom('', '/'),
  )
  .map(([parts, end]) => `/${parts.join('/')}${end}`)

type RouteLine = { method: (typeof METHODS)[number]; path: string }

function entriesOf(routes: readonly RouteLine[]): TableEntry<string>[] {
  const unique = new Map(routes.map((line) => [`${line.method} ${line.path}`, line]))
  return [...unique].map(([target, line]) => ({ ...line, target, origin: target }))
}

/** The rules as plainly as they can be said: split, compare every route, sort by specificity. */
function naiveFind(entries: readonly TableEntry<string>[], method: string, path: string): string | undefined {
  const candidates = entries
    .filter((entry) => matches(entry.path, path))
    .filter(
      (entry, _, all) =>
        entry.method === method ||
        (method === 'HEAD' &&
          entry.method === 'GET' &&
          !all.some((other) => other.method === 'HEAD' && other.path === entry.path)),
    )
  return candidates.toSorted((a, b) => (rank(a.path) < rank(b.path) ? -1 : 1))[0]?.target
}

function rank(path: string): string {
  const kinds = path.split('/').map((part) => (part.startsWith('*') ? '2' : part.startsWith(':') ? '1' : '0'))
  return kinds.join('')
}

function matches(pattern: string, path: string): boolean {
  const trimmed = path.length > 1 && path.endsWith('/') && !path.endsWith('//') ? path.slice(0, -1) : path
  const wanted = pattern === '/' ? [] : pattern.slice(1).split('/')
  const given = trimmed === '/' ? [] : trimmed.slice(1).split('/')
  if (given.includes('')) return false
  const isRest = wanted.at(-1)?.startsWith('*') ?? false
  if (isRest ? given.length < wanted.length : given.length !== wanted.length) return false
  return wanted.every(
    (part, index) =>
      part.startsWith(':') ||
      part.startsWith('*') ||
      decodeURIComponent(part) === decodeURIComponent(given[index]!),
  )
}

describe('route table: random tables', () => {
  it('finds what a naive matcher finds', () => {
    fc.assert(
      fc.property(
        fc.array(route, { maxLength: 25 }),
        fc.array(requestPath, { minLength: 1, maxLength: 12 }),
        (routes, paths) => {
          const entries = entriesOf(routes)
          const table = createRouteTable(entries)
          for (const path of paths) {
            for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'PATCH'])
              expect(table.find(method, path)?.target, `${method} ${path}`).to.equal(
                naiveFind(entries, method, path),
              )
            const methods = METHODS.filter((method) => naiveFind(entries, method, path))
            const expected = METHODS.filter((m) => methods.includes(m) || (m === 'OPTIONS' && methods[0]))
            expect(table.allowed(path), path).to.deep.equal(expected)
          }
        },
      ),
      { numRuns: casesOf(1000), seed: seedFor('route table') },
    )
  })

  it('finds the same whatever the order of registration', () => {
    const shuffled = fc
      .array(route, { minLength: 2, maxLength: 20 })
      .map((routes) => entriesOf(routes))
      .chain((entries) =>
        fc.tuple(
          fc.constant(entries),
          fc.shuffledSubarray(entries, { minLength: entries.length, maxLength: entries.length }),
        ),
      )
    fc.assert(
      fc.property(shuffled, fc.array(requestPath, { maxLength: 12 }), ([entries, others], paths) => {
        const one = createRouteTable(entries)
        const two = createRouteTable(others)
        for (const path of paths) {
          for (const method of METHODS) expect(two.find(method, path)).to.deep.equal(one.find(method, path))
          expect(two.allowed(path)).to.deep.equal(one.allowed(path))
        }
      }),
      { numRuns: casesOf(500), seed: seedFor('route order') },
    )
  })
})
