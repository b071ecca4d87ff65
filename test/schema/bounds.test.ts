import { expect } from 'chai'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as valibot from 'valibot'
import * as yup from 'yup'
import { z } from 'zod'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import type { Schema } from '../../src/schema/schema.ts'

const LIMIT = 21

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

const issuesOf = (schema: Schema, value: unknown, limit?: number) => {
  const result = compileValidator(schema, 'body').validate(value, limit)
  expect(result).to.be.instanceOf(Invalid)
  return (result as Invalid).issues
}

const pathsOf = (schema: Schema, value: unknown, limit?: number) =>
  issuesOf(schema, value, limit).map(({ path }) => path)

/** A test of one's own that counts how often it ran. */
function counting(): { runs: number; test: <S extends yup.Schema>(schema: S) => S } {
  const counter = {
    runs: 0,
    test: <S extends yup.Schema>(schema: S): S =>
      schema.test('own', 'never', () => {
        counter.runs += 1
        return true
      }),
  }
  return counter
}

const line = { sku: yup.string().required(), qty: yup.number().min(1).required() }

const KINDS: readonly (readonly [string, (items: yup.AnySchema) => Schema, ((item: yup.AnySchema) => yup.AnySchema)?])[] = [
  ['a compiled schema', (items) => yup.object({ lines: items })],
  ['a schema with a test of its own', (items) => yup.object({ lines: items }).test('own', 'never', () => true)],
  ['an asynchronous schema', (items) => yup.object({ lines: items, note: yup.string().test('own', 'never', async () => true) })],
  ['an array with a test of its own', (items) => yup.object({ lines: items.test('own', 'never', () => true) })],
  ['a lazy item', (items) => yup.object({ lines: items }), (item) => yup.lazy(() => item) as unknown as yup.AnySchema],
] // prettier-ignore

describe('The issues of a hostile value', () => {
  for (const [name, schema, itemOf = (item: yup.AnySchema) => item] of KINDS) {
    const item = itemOf(yup.object(line))

    it(`stop at the limit: ${name}`, () => {
      const many = { lines: Array.from({ length: 50_000 }, () => ({})) }
      const paths = pathsOf(schema(yup.array(item).max(50_000)), many, LIMIT)
      expect(paths).to.have.length(LIMIT)
      expect(new Set(paths)).to.have.length(LIMIT)
      expect(paths.every((path) => path.startsWith('lines['))).to.equal(true)
    })

    it(`are one for an array that is too long: ${name}`, () => {
      const limited = schema(yup.array(item).max(2))
      expect(pathsOf(limited, { lines: [{}, {}, {}] })).to.deep.equal(['lines'])
      expect(pathsOf(schema(yup.array(item).length(2)), { lines: [{}, {}, {}] })).to.deep.equal(['lines'])
    })

    if (!name.includes('asynchronous'))
      it(`are one for an array that is too short: ${name}`, () => {
        expect(pathsOf(schema(yup.array(item).min(2)), { lines: [{}] })).to.deep.equal(['lines'])
        expect(pathsOf(schema(yup.array(item).length(2)), { lines: [{}] })).to.deep.equal(['lines'])
      })
  }

  it('also stop custom tests', () => {
    const refused = { runs: 0 }
    const item = yup.string().test('own', 'refused', () => {
      refused.runs += 1
      return false
    })
    const paths = pathsOf(yup.array(item).max(50_000), times(50_000, 'a'), LIMIT)
    expect(paths).to.have.length(LIMIT)
    expect(refused.runs).to.equal(LIMIT)
  })

  it('are found without yup if the plain parts alone reach the limit', () => {
    const counter = counting()
    const schema = yup.object({ note: counter.test(yup.string()), lines: yup.array(yup.object(line)).max(3) })
    expect(pathsOf(schema, { lines: times(50, {}) }, LIMIT)).to.deep.equal(['lines'])
    expect(counter.runs).to.equal(0)
    pathsOf(schema, { lines: [{}] }, LIMIT)
    expect(counter.runs).to.equal(1)
  })

  it('are not invented if a schema depends on more than its value', () => {
    const once = yup.lazy((value: unknown) =>
      typeof value === 'string'
        ? yup.mixed().transform(() => ({ ok: true }))
        : yup.object({ ok: yup.boolean() }),
    )
    const fresh = yup.lazy(() => yup.string())
    const schema = yup.object({
      once,
      fresh,
      when: yup.number().when('fresh', ([v], s) => (v === 'a' ? s.strip() : s)),
    })
    const result = compileValidator(schema, 'body').validate({ once: 'x', fresh: 'a', when: 'no' }, 1)
    expect(result).to.deep.equal({ once: { ok: true }, fresh: 'a' })
  })

  it('may all result from an asynchronous test, without a call with too many arguments', async () => {
    const item = yup.object({ a: yup.string().test('own', 'refused', async () => false) })
    const result = compileValidator(yup.object({ l: yup.array(item).max(3_000) }), 'body').validate({ l: times(3_000, { a: 'x' }) }, LIMIT)
    expect(((await result) as Invalid).issues).to.have.length(LIMIT)
  }) // prettier-ignore

  it('of another library are cut, and too long arrays are rejected before the library validates them', () => {
    const items = z.array(z.object({ sku: z.string() }))
    expect(pathsOf(z.object({ lines: items.max(5_000) }), { lines: times(5_000, {}) }, LIMIT)).to.have.length(LIMIT)
    expect(pathsOf(z.object({ lines: items.max(2) }), { lines: times(5_000, {}) }, LIMIT)).to.deep.equal(['lines'])
    const nested = z.object({ rows: z.array(z.object({ cells: z.array(z.number()).max(1) })) })
    expect(pathsOf(nested, { rows: [{ cells: [] }, { cells: ['a', 'b'] }] })).to.deep.equal(['rows[1].cells'])
    const kind = z.object({ lines: items.max(2).catch([]) })
    const result = compileValidator(kind, 'body').validate({ lines: [{}, {}, {}] })
    expect(result, 'what replaces a value that is too long').to.deep.equal({ lines: [] })
  }) // prettier-ignore

  it('quote at most a short part of it', () => {
    const long = 'x'.repeat(1_000_000)
    const slow = yup.object({ n: yup.number() }).test('own', 'never', () => true)
    for (const schema of [yup.object({ n: yup.number() }), slow, yup.object({}).exact(), z.record(z.string(), z.number())])
      for (const value of [{ n: long }, { n: { [long]: long } }, { n: [[long]] }, { [long]: long }]) {
        const result = compileValidator(schema, 'body').validate(value)
        if (!(result instanceof Invalid)) continue
        for (const { path, message } of result.issues) expect(path.length + message.length).to.be.at.most(2_000)
      }
  }) // prettier-ignore
})

describe('A number', () => {
  const own = (schema: yup.NumberSchema) => schema.test('own', 'never', () => true)
  for (const [name, number] of [
    ['compiled', yup.number()],
    ['with a test of its own', own(yup.number())],
    ['strict', yup.number().strict()],
    ['rounded', yup.number().round()],
  ] as const)
    // prettier-ignore
    it(`is finite (${name})`, () => {
      const schema = yup.object({ n: number, list: yup.array(number) })
      for (const n of [Infinity, -Infinity, Number.NaN, JSON.parse('1e400')])
        expect(pathsOf(schema, { n, list: [n] }), String(n)).to.deep.equal(['n', 'list[0]'])
      for (const text of ['Infinity', '-Infinity', 'NaN', '1e400', '9'.repeat(400), '0x10', '1e3'])
        for (const location of ['query', 'params', 'headers'] as const)
          expect(compileValidator(schema, location).validate({ n: text }), text).to.be.instanceOf(Invalid)
      if (name !== 'strict') expect(pathsOf(schema, { n: 'Infinity' })).to.deep.equal(['n'])
    })
})

describe('Arrays without a maximum', () => {
  const slow = yup.object({ name: yup.string().test('own', 'never', () => true) })
  const text = { name: 'a' }
  const pick = z.discriminatedUnion('t', [
    z.object({ t: z.literal('a'), list: z.array(z.string()).max(5_000) }),
    z.object({ t: z.literal('b'), list: z.array(z.string()) }),
    z.object({ t: z.literal('c'), other: z.array(z.string()) }),
  ])
  const tooMany: readonly (readonly [string, Schema, unknown, string])[] = [
    ['with tests of its own', yup.object({ list: yup.array(slow) }), { list: times(2_001, text) }, 'list'],
    ['of lazy items', yup.object({ list: yup.array(yup.lazy(() => yup.string().trim())) }), { list: times(2_001, 'a') }, 'list'],
    ['in a lazy schema', yup.object({ a: yup.lazy(() => yup.array(yup.string())) }), { a: times(2_001, '') }, 'a'],
    ['in a condition', yup.object({ a: yup.mixed().when([], () => yup.array(yup.string()) as unknown as yup.MixedSchema) }), { a: times(2_001, '') }, 'a'],
    ['beside other ones', yup.object({ s: slow, a: yup.array(yup.array(yup.string())) }), { a: times(200, times(10, '')) }, 'a[180]'],
    ['of zod', z.object({ list: z.array(z.object({})) }), { list: times(2_001, {}) }, 'list'],
    ['of zod in arrays', z.array(z.array(z.string())), times(200, times(10, '')), '[180]'],
    ['of zod that may be null', z.object({ list: z.array(z.string()).nullable().default([]) }), { list: times(2_001, '') }, 'list'],
    ['of zod in a record', z.record(z.string(), z.array(z.string())), { a: times(2_001, '') }, 'a'],
    ['of valibot in a part without a JSON Schema', toStandardJsonSchema(valibot.object({ list: valibot.nonNullish(valibot.array(valibot.string())) })), { list: times(2_001, '') }, 'list'],
    ['of zod in a union', pick, { t: 'b', list: times(2_001, '') }, 'list'],
    ['of zod in a union of other ones', z.union([z.object({ a: z.array(z.string()) }), z.object({ b: z.array(z.string()) })]), { b: times(2_001, '') }, 'b'],
  ] // prettier-ignore
  for (const [name, schema, value, path] of tooMany)
    it(`have at most 2,000 items together where a library validates them: ${name}`, () => {
      const issues = issuesOf(schema, value)
      expect(issues.map((issue) => issue.path)).to.deep.equal([path])
      expect(issues[0]!.message).to.match(/too many items: arrays without a maximum have at most 2000/)
    })

  const enough: readonly (readonly [string, Schema, unknown])[] = [
    ['2,000 with tests of its own', yup.object({ list: yup.array(slow) }), { list: times(2_000, text) }],
    ['a maximum of its own', yup.object({ list: yup.array(slow).max(3_000) }), { list: times(3_000, text) }],
    ['a compiled schema', yup.object({ list: yup.array(yup.string()) }), { list: times(5_000, 'a') }],
    ['2,000 of zod', z.object({ list: z.array(z.string()) }), { list: times(2_000, 'a') }],
    ['a maximum of zod', z.object({ list: z.array(z.string()).max(3_000).nullable() }), { list: times(3_000, 'a') }],
    ['a maximum in the union that fits', pick, { t: 'a', list: times(3_000, 'a') }],
    ['the larger maximum of two arrays in a union', z.union([z.array(z.string()).max(2), z.array(z.string()).max(3_000)]), times(1_000, 'a')],
    ['unknown values of zod', z.object({ any: z.unknown() }), { any: times(5_000, 'a') }],
  ] // prettier-ignore
  for (const [name, schema, value] of enough)
    it(`cause no issue: ${name}`, () => {
      expect(compileValidator(schema, 'body').validate(value)).to.deep.equal(value)
    })
})

describe('A key that every object inherits', () => {
  const own = <S extends yup.Schema>(schema: S): S => schema.test('own', 'never', () => true)
  const field = yup.string().required()
  for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf'])
    for (const [name, wrap] of [
      ['compiled', (schema: yup.AnySchema) => schema],
      ['with a test of its own', (schema: yup.AnySchema) => own(schema as yup.Schema)],
      ['lazy', (schema: yup.AnySchema) => yup.lazy(() => schema) as unknown as yup.AnySchema],
      ['conditional', (schema: yup.AnySchema) => yup.mixed().when([], () => schema)],
    ] as const)
      it(`is missing unless the value has it: ${key}, ${name}`, () => {
        const inner = wrap(yup.object({ [key]: field, other: yup.string() }))
        const schema = yup.object({ one: inner, list: yup.array(inner) })
        expect(pathsOf(schema, { one: {}, list: [{ other: 'a' }] }, LIMIT)).to.have.members([`one.${key}`, `list[0].${key}`]) // prettier-ignore
        const given = { one: { [key]: 'a' }, list: [{ [key]: 'b' }] }
        expect(compileValidator(schema, 'body').validate(given)).to.deep.equal(given)
        const optional = wrap(yup.object({ [key]: yup.string() }))
        const result = compileValidator(yup.object({ one: optional }), 'body').validate({ one: { other: 1 } })
        expect(Object.keys((result as { one: object }).one)).to.deep.equal(['other'])
        expect(compileValidator(optional, 'response').validate({})).to.deep.equal({})
        expect(compileValidator(inner, 'response').validate({})).to.be.instanceOf(Invalid)
      })
})
