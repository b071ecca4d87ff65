import { expect } from 'chai'
import * as yup from 'yup'
import { z } from 'zod'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import type { Schema, StandardLike } from '../../src/schema/schema.ts'

/** Items of arrays without a maximum, which a library validates, and keys of large objects without declared keys. */
const MOST_OPEN = 2_000

/**
 * Most calls of one function of an application for one item. yup reads a lazy schema and a condition several times: to
 * clean the value, to cast it and to validate it. A test runs once.
 */
const PER_ITEM = 8

/** Counts the calls of an application's own functions. */
class Counter {
  calls = 0
  readonly passes = (): boolean => this.call(true)

  call<T>(result: T): T {
    this.calls += 1
    return result
  }
}

type Build = (counter: Counter) => Schema

const lazy = (build: (value: unknown) => yup.AnySchema): yup.AnySchema =>
  yup.lazy(build) as unknown as yup.AnySchema

const recursive = (counter: Counter, next: (self: () => yup.AnySchema) => yup.AnySchema): yup.AnySchema => {
  const node: yup.AnySchema = yup.object({ kids: yup.array(next(() => counter.call(node))) })
  return node
}

const zodNode = ({ passes }: Counter): z.ZodType => {
  const node: z.ZodType = z.object({
    name: z.string().optional(),
    get kids() {
      return z.array(node.refine(passes)).optional()
    },
  })
  return node
}

/** A validator without JSON Schema that asks its function for each member at every depth. */
function undescribed(counter: Counter): StandardLike {
  const visit = (value: unknown): void => {
    counter.call(value)
    if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) visit(one)
  }
  const validate = (value: unknown): object => {
    visit(value)
    return { value }
  }
  return { '~standard': { version: 1, vendor: 'other', validate } }
}

const SHAPES: readonly (readonly [string, Build])[] = [
  ['lazy items, recursive', (counter) => recursive(counter, (self) => lazy(self))],
  ['lazy items that depend on the value', (counter) =>
    yup.object({ kids: yup.array(lazy((value) => counter.call(typeof value === 'string' ? yup.string() : yup.object()))) })],
  ['lazy items, new each time', (counter) => yup.object({ kids: yup.array(lazy(() => counter.call(yup.object({ a: yup.string() })))) })],
  ['a lazy list', (counter) => yup.object({ kids: lazy(() => yup.array(lazy(() => counter.call(yup.mixed())))) })],
  ['a lazy list of tests', (counter) => lazy(() => yup.object({ kids: yup.array(yup.mixed().test('own', 'no', counter.passes)) }))],
  ['a lazy object by the keys of the value', (counter) =>
    lazy((value) => yup.object(Object.fromEntries(Object.keys(value as object).map((key) => [key, yup.mixed().test('own', 'no', counter.passes)]))))],
  ['conditional items', (counter) => yup.object({ kids: yup.array(yup.mixed().when([], (_, schema) => counter.call(schema))) })],
  ['items with a test', (counter) => yup.object({ kids: yup.array(yup.mixed().test('own', 'no', counter.passes)) })],
  ['items with a transform', (counter) => yup.object({ kids: yup.array(yup.mixed().transform((value: unknown) => counter.call(value))) })],
  ['items with a default of its own', (counter) => yup.object({ kids: yup.array(yup.object({ a: yup.number().default(() => counter.call(1)) })) })],
  ['lists of lists with a test', (counter) => yup.object({ kids: yup.array(yup.array(yup.mixed().test('own', 'no', counter.passes))) })],
  ['a tuple of lists with a test', (counter) => yup.object({ kids: yup.tuple([yup.array(yup.mixed().test('own', 'no', counter.passes)), yup.mixed()]) })],
  ['a failing test beside the list', (counter) =>
    yup.object({ kids: yup.array(lazy(() => counter.call(yup.mixed()))), name: yup.string().test('own', 'no', () => false) })],
  ['an object that cannot be cast', (counter) =>
    yup.object({ kids: yup.array(lazy(() => counter.call(yup.object({ a: yup.string().trim() })))).test('own', 'no', () => true) })],
  ['zod items with a refinement', ({ passes }) => z.object({ kids: z.array(z.unknown().refine(passes)) })],
  ['zod lazy items', (counter) => z.object({ kids: z.array(z.lazy(() => counter.call(z.unknown()))) })],
  ['zod, recursive', zodNode],
  ['zod transform', (counter) => z.object({ kids: z.array(z.unknown().transform((value) => counter.call(value))) })],
  ['a zod tuple', ({ passes }) => z.object({ kids: z.tuple([z.array(z.unknown().refine(passes))]).rest(z.array(z.unknown().refine(passes))) })],
  ['a zod tuple with other further items', ({ passes }) => z.object({ kids: z.tuple([z.array(z.unknown().refine(passes))]).rest(z.unknown()) })],
  ['a zod record', ({ passes }) => z.record(z.string(), z.union([z.string(), z.array(z.unknown()), z.object({})]).refine(passes))],
  ['zod with a catchall', ({ passes }) => z.object({ name: z.string().optional() }).catchall(z.union([z.array(z.unknown().refine(passes)), z.number().refine(passes), z.object({})]))],
  ['a zod intersection', ({ passes }) =>
    z.intersection(z.object({ kids: z.array(z.unknown().refine(passes)) }), z.record(z.string(), z.unknown()))],
  ['a zod union', ({ passes }) => z.union([z.object({ kids: z.array(z.unknown().refine(passes)) }), z.object({ kids: z.array(z.string()) })])],
  ['a zod pipe', ({ passes }) => z.object({ kids: z.array(z.unknown()).pipe(z.array(z.unknown().refine(passes))) })],
  ['a validator without JSON Schema', undescribed],
] // prettier-ignore

const times = <T>(count: number, item: () => T): T[] => Array.from({ length: count }, item)

function chain(depth: number, end: unknown): unknown {
  let value = end
  for (let level = 0; level < depth; level++) value = { kids: [value] }
  return value
}

const keyed = (count: number, value: () => unknown): object =>
  Object.fromEntries(times(count, value).map((one, index) => [`k${index}`, one]))

const VALUES: readonly (readonly [string, unknown])[] = [
  ['100,000 empty objects', { kids: times(100_000, () => ({})) }],
  ['20,000 empty lists', { kids: times(20_000, () => []) }],
  ['a list of 20,000 empty objects in a list', { kids: [times(20_000, () => ({}))] }],
  ['20,000 numbers', { kids: times(20_000, () => 1) }],
  ['a wide tree', { kids: times(200, () => ({ kids: times(200, () => ({})) })) }],
  ['lists of lists', { kids: times(200, () => times(200, () => [])) }],
  ['a deep tree with wide leaves', chain(90, { kids: times(20_000, () => ({})) })],
  ['a tree that is too deep', chain(100_000, {})],
  ['many unknown keys', keyed(20_000, () => 1)],
  ['many unknown keys in each item', { kids: times(100, () => keyed(1_000, () => [])) }],
  ['many unknown keys beside a list', { ...keyed(20_000, () => ({})), kids: [] }],
  ['an object that cannot be cast, last', { kids: [...times(1_999, () => ({})), { a: {} }] }],
]

const ROW = times(3_000, () => 1)
const MANY = { kids: times(3_000, () => ROW) }

describe("The functions of an application's schema", () => {
  for (const [shape, build] of SHAPES)
    for (const [name, value] of VALUES)
      it(`are called in proportion to 2,000 items: ${shape}, ${name}`, async () => {
        const counter = new Counter()
        await compileValidator(build(counter), 'body').validate(value)
        expect(counter.calls).to.be.at.most(PER_ITEM * MOST_OPEN)
      })

  for (const [shape, build] of SHAPES)
    it(`are not called for a value above the bound: ${shape}`, async () => {
      const counter = new Counter()
      const result = await compileValidator(build(counter), 'body').validate(MANY)
      expect(result).to.be.instanceOf(Invalid)
      // zod asks a lazy schema for its description, once for all values.
      expect(counter.calls).to.be.at.most(10)
    })

  it('are called for a value within the bound', async () => {
    for (const [shape, build] of SHAPES) {
      const counter = new Counter()
      await compileValidator(build(counter), 'body').validate({ kids: [[{}, {}], {}], name: 'a' })
      expect(counter.calls, shape).to.be.at.least(1)
    }
  })
})
