import type { YupNode } from '../../../src/compat/yup.ts'
import { MEMBER_NAMES } from './random-schema.ts'
import type { Random } from './random.ts'

const TEXTS = [
  '', 'a', 'abc', 'ABC', ' a ', 'x', 'xx', 'abcdef', 'ada@example.com', 'https://example.com/a?b=1', 'no', 'YES', 'true',
  'FALSE', '0', '1', '5', '05', ' 5 ', '-2', '2.5', '+3', '0x10', '1e3', 'NaN', '.5', '5.',
  '12345678901234567890', '2021-03-04', '2021-03-04T05:06:07Z', '2021-03-04T05:06:07.123Z', '2021-13-45', '2021-02-30T00:00:00Z', '9007199254740993',
  '0190b4ae-1b3c-7d6e-8a3b-2b1c3d4e5f60', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '7d444840-9dc0-11d1-b245-5ffdce74fad2', '7D444840-9DC0-11D1-B245-5FFDCE74FAD2', '\u{1f600}', 'a\u0000b', '${path}', '[object Object]',
] // prettier-ignore
const ODD: readonly (() => unknown)[] = [
  () => undefined, () => null, () => true, () => false, () => 0, () => -0, () => 1, () => 5, () => 2.5, () => -3, () => 1e21,
  () => [], () => ['a'], () => [1, null], () => [['a'], {}], () => ({}), () => ({ a: undefined }), () => ({ a: 1, z: { y: [1] } }),
  () => new Date(1.6e12), () => new Date(Number.NaN), () => Object.assign(Object.create(null) as object, { a: 'a' }),
  () => new Map([['a', 1]]), () => new (class Thing { a = 'x' })(),
] // prettier-ignore
/** A string that yup reads as an infinite number, which is rejected here. */
export const ENDLESS: readonly unknown[] = [Infinity, -Infinity, '1e999', 'Infinity', '-Infinity']

const HOSTILE: readonly string[] = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']

/** Any value that a parser or a careless caller could hand over. */
export function randomValue(random: Random): unknown {
  return random.chance(0.6) ? random.pick(TEXTS) : random.pick(ODD)()
}

/** A value close to the schema: mostly the right shape, with wrong, absent and unknown parts. */
export function valueFor(schema: YupNode, random: Random, hostile: boolean): unknown {
  if (random.chance(0.12)) return randomValue(random)
  if (schema.type === 'object') return objectFor(schema, random, hostile)
  if (schema.type === 'array')
    return listOf(random.below(4), () =>
      schema.innerType ? valueFor(schema.innerType, random, hostile) : randomValue(random),
    )
  if (schema.type === 'tuple') {
    const types = schema.spec.types as readonly YupNode[]
    return types.slice(0, random.chance(0.9) ? 2 : 1).map((type) => valueFor(type, random, hostile))
  }
  return leafFor(schema.type, random)
}

/** JSON, by which refused text is quoted, writes a control character in another way than yup does. */
const QUERY_TEXTS = [...TEXTS.filter((text) => !text.includes('\u0000')), '1e999', 'Infinity']

/** Text as a query delivers it: strings, and arrays for repeated parameters. */
export function queryFor(schema: YupNode, random: Random): unknown {
  const keys = [...Object.keys(schema.fields ?? {}), 'other'].filter(() => random.chance(0.8))
  const value = (): unknown =>
    random.chance(0.15) ? [random.pick(QUERY_TEXTS), random.pick(QUERY_TEXTS)] : random.pick(QUERY_TEXTS)
  return Object.fromEntries(keys.map((key) => [key, value()]))
}

function objectFor(schema: YupNode, random: Random, hostile: boolean): unknown {
  const result: Record<string, unknown> = {}
  const keys = Object.entries(schema.fields ?? {}).filter(() => random.chance(0.85))
  if (random.chance(0.2)) keys.reverse()
  for (const [key, field] of keys) result[key] = valueFor(field as YupNode, random, hostile)
  if (random.chance(0.2)) result[random.pick(MEMBER_NAMES)] ??= randomValue(random)
  if (random.chance(0.2)) result.unknown = randomValue(random)
  if (hostile && random.chance(0.3))
    Object.defineProperty(result, random.pick(HOSTILE), {
      value: 1,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  return result
}

function leafFor(type: string, random: Random): unknown {
  if (type === 'number' && random.chance(0.7)) return random.pick([0, 1, 2, 3, 5, 7, 9, 2.5, -1])
  if (type === 'boolean' && random.chance(0.7)) return random.chance(0.5)
  if (type === 'date' && random.chance(0.5))
    return random.pick(['2021-03-04T05:06:07Z', '2019-01-01', '2030-01-01T00:00:00Z'])
  return random.pick(TEXTS)
}

function listOf<T>(length: number, make: () => T): T[] {
  return Array.from({ length }, make)
}
