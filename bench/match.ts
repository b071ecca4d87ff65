// Measures `find` of the route table at 10, 1,000 and 10,000 routes, and find-my-way beside it when that is installed.
// Run: npx tsx --conditions=source bench/match.ts
import { createRouteTable } from '../src/routing/route-table.ts'

type Find = (method: string, path: string) => unknown

const SIZES = [10, 1_000, 10_000]
const ROUNDS = 9
const BLOCKS = 60
const COPIES = 20

/** A quarter each of static, parameter, nested parameter and catch-all patterns. */
function patterns(count: number): string[] {
  const kinds = [
    (n: number) => `/static/res${n}/list`,
    (n: number) => `/api/res${n}/:id`,
    (n: number) => `/v1/org${n}/:org/users/:user`,
    (n: number) => `/files/res${n}/*path`,
  ]
  return Array.from({ length: count }, (_, n) => kinds[n % kinds.length]!(n))
}

/** Request paths of one kind, many different ones, so that no cache of one string is measured. */
function paths(count: number): Record<string, string[]> {
  const some = (make: (n: number, i: number) => string, kind: number) =>
    Array.from({ length: 64 }, (_, i) => {
      const n = Math.floor((i * count) / 64 / 4) * 4 + kind
      return make(n < count ? n : kind, i)
    })
  return {
    static: some((n) => `/static/res${n}/list`, 0),
    parameter: some((n, i) => `/api/res${n}/${1000 + i}`, 1),
    'two parameters': some((n, i) => `/v1/org${n}/acme${i}/users/${i}`, 2),
    'catch-all': some((n, i) => `/files/res${n}/a/b/${i}.txt`, 3),
    escaped: some((n, i) => `/api/res${n}/a%20b${i}`, 1),
    unknown: some((n, i) => `/nope/none${n}/at/all${i}`, 0),
  }
}

async function otherRouter(list: readonly string[]): Promise<Find | undefined> {
  try {
    // A variable keeps the compiler from asking for a package that is only sometimes there.
    const name: string = 'find-my-way'
    const { default: findMyWay } = await import(name)
    const router = findMyWay()
    for (const path of list) router.on('GET', path.replace(/\*.*/, '*'), () => undefined)
    return (method, path) => router.find(method, path)
  } catch {
    return undefined
  }
}

/** Nanoseconds per call: the median of several rounds, on fresh copies of the paths, as a socket would give. */
function measure(find: Find, list: readonly string[]): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    let total = 0n
    for (let block = 0; block < BLOCKS; block++) total += timeBlock(find, list)
    return Number(total) / (BLOCKS * COPIES * list.length)
  })
  return rounds.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
}

function timeBlock(find: Find, list: readonly string[]): bigint {
  const fresh = Array.from({ length: COPIES }, () => list.map((path) => Buffer.from(path).toString('latin1')))
  const flat = fresh.flat()
  const start = process.hrtime.bigint()
  for (const path of flat) find('GET', path)
  return process.hrtime.bigint() - start
}

const first = new Map<string, number>()
for (const size of SIZES) {
  const list = patterns(size)
  const started = performance.now()
  const table = createRouteTable(list.map((path) => ({ method: 'GET', path, target: path, origin: 'bench' })))
  console.log(`\n${size} routes, built in ${(performance.now() - started).toFixed(1)} ms`)
  const other = await otherRouter(list)
  for (const [kind, requests] of Object.entries(paths(size))) {
    const own = measure(table.find, requests)
    first.set(kind, first.get(kind) ?? own)
    const ratio = `${(own / first.get(kind)!).toFixed(2)} x of 10 routes`
    const theirs = other ? `, find-my-way ${measure(other, requests).toFixed(0)} ns` : ''
    console.log(`  ${kind.padEnd(15)} ${own.toFixed(0).padStart(5)} ns  ${ratio}${theirs}`)
  }
}
