import { expect } from 'chai'
import * as yup from 'yup'
import { z } from 'zod'
import { StartupError } from '../../src/errors/startup-error.ts'
import { compileValidator, type ValidatedLocation } from '../../src/schema/compile-validator.ts'
import { compileYup } from '../../src/schema/yup/compile-yup.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { compileSerializer } from '../../src/schema/serializer.ts'
import type { YupNode } from '../../src/compat/yup.ts'

const validate = (schema: Schema, value: unknown, location: ValidatedLocation = 'body'): unknown =>
  compileValidator(schema, location).validate(value)

function issuesOf(result: unknown): Record<string, string> {
  expect(result).to.be.instanceOf(Invalid)
  return Object.fromEntries((result as Invalid).issues.map(({ path, message }) => [path, message]))
}

/** A schema that must be validated by yup itself, with the same meaning. */
const slow = <S>(schema: S): S => (schema as yup.Schema).test('own', 'never', () => true) as S

const order = yup.object({
  customer: yup.string().required().trim(),
  items: yup
    .array(yup.object({ sku: yup.string().required(), qty: yup.number().integer().min(1).required() }))
    .min(1)
    .required(),
  when: yup.date(),
  note: yup.string().nullable(),
})

describe('compileValidator', () => {
  it('returns one validator for text and one for bodies to routes that share a schema', () => {
    const schema = yup.object({ page: yup.number() })
    const query = compileValidator(schema, 'query')
    expect(compileValidator(schema, 'params')).to.equal(query)
    expect(compileValidator(schema, 'body')).to.equal(compileValidator(schema, 'body'))
    expect(compileValidator(schema, 'body')).not.to.equal(query)
    expect(compileSerializer(schema)).to.equal(compileSerializer(schema))
  })

  it('accepts objects of any number of fields, with any string as a field name', () => {
    const names = [
      ...Array.from({ length: 100 }, (_, index) => `field${index}`),
      '\'"`${x}\\',
      '\u2028',
      '\n',
      '0',
      '',
    ]
    const schema = yup.object(Object.fromEntries(names.map((name) => [name, yup.number().required()])))
    const sent = Object.fromEntries(names.map((name, index) => [name, index]))
    expect(validate(schema, sent)).to.equal(sent)
    expect(validate(schema, { ...sent, '\n': '7' })).to.deep.equal({ ...sent, '\n': 7 })
    expect(issuesOf(validate(schema, { ...sent, field99: 'x' }))).to.have.keys('field99')
    expect(JSON.parse(compileSerializer(schema)({ ...sent, secret: 1 }) as string)).to.deep.equal(sent)
  })
})

describe('A compiled schema with a field named like a member of Object.prototype', () => {
  const schema = yup.object({ constructor: yup.string(), toString: yup.number().default(5), a: yup.number() })

  it('reads only own keys of the value', () => {
    expect(validate(schema, { a: '1' })).to.deep.equal({ a: 1, toString: 5 })
    const sent = { constructor: 'x', toString: 1, a: 2 }
    expect(validate(schema, sent)).to.equal(sent)
  })
})

describe('A body validator', () => {
  for (const [how, schema] of [
    ['compiled', order],
    ['by yup', slow(order)],
  ] as const)
    describe(how, () => {
      it('returns the typed value', () => {
        const sent = { customer: ' Ada ', items: [{ sku: 'x', qty: '2' }], when: '2021-03-04T05:06:07Z' }
        expect(validate(schema, sent)).to.deep.equal({
          customer: 'Ada',
          items: [{ sku: 'x', qty: 2 }],
          when: new Date('2021-03-04T05:06:07Z'),
        })
        expect(sent.items[0]!.qty, 'the input stays as it is').to.equal('2')
      })

      it('returns the value itself when nothing changes', () => {
        const sent = { customer: 'Ada', items: [{ sku: 'x', qty: 2 }] }
        expect(validate(schema, sent)).to.equal(sent)
      })

      it('names every issue by its path', () => {
        const issues = issuesOf(validate(schema, { items: [{ sku: 'x', qty: 0 }, { qty: 'many' }], note: 5 }))
        expect(Object.keys(issues)).to.have.members([
          'customer',
          'items[0].qty',
          'items[1].sku',
          'items[1].qty',
        ])
        expect(issues.customer).to.equal('customer is a required field')
      })

      it('names the whole value by an empty path', () => {
        for (const value of [null, 5, 'text', [], true])
          expect(Object.keys(issuesOf(validate(schema, value)))).to.include('')
      })

      it('does not turn a missing body into an empty one', () => {
        expect(Object.keys(issuesOf(validate(schema, undefined)))).to.have.members(['customer', 'items'])
      })
    })

  it('does not turn a scalar of a body into an array', () => {
    expect(issuesOf(validate(yup.object({ tag: yup.array(yup.string()) }), { tag: 'a' }))).to.have.keys('tag')
  })

  it('returns no more issues than asked for, also of a library without a limit', () => {
    const keys = ['a', 'b', 'c', 'd']
    const fieldsOf = <Field>(field: Field) => Object.fromEntries(keys.map((key) => [key, field]))
    for (const schema of [z.object(fieldsOf(z.string())), yup.object(fieldsOf(yup.string().required()))]) {
      const found = compileValidator(schema, 'body').validate({}, 3) as Invalid
      expect(found.issues).to.have.length(3)
    }
  })

  it('keeps, strips or rejects unknown keys as the schema requires', () => {
    const fields = { a: yup.string() }
    expect(validate(yup.object(fields), { a: 'x', b: 1 })).to.deep.equal({ a: 'x', b: 1 })
    expect(validate(yup.object(fields).noUnknown(), { a: 'x', b: 1 })).to.deep.equal({ a: 'x' })
    expect(issuesOf(validate(yup.object(fields).exact(), { a: 'x', b: 1 }))).to.deep.equal({
      '': 'this object contains unknown properties: b',
    })
    expect(issuesOf(validate(yup.object(fields).noUnknown().strict(), { a: 'x', b: 1 }))).to.have.keys('')
  })

  it('accepts a declared key that every object inherits, and ignores the inherited value', () => {
    const race = yup.object({ constructor: yup.string(), position: yup.number().required() })
    expect(validate(race, { constructor: 'Lotus', position: 1 })).to.deep.equal({
      constructor: 'Lotus',
      position: 1,
    })
    expect(validate(race, { position: 1 })).to.deep.equal({ position: 1 })
  })

  it('computes a default each time', () => {
    let count = 0
    const run = compileValidator(yup.object({ n: yup.number().default(() => ++count) }), 'body').validate
    expect([run({}), run({})]).to.deep.equal([{ n: 1 }, { n: 2 }])
  })

  it('gives an absent list its default, unless it is strict', () => {
    const list = yup.array(yup.string()).default(['a'])
    for (const schema of [list, slow(list)]) expect(validate(schema, undefined)).to.deep.equal(['a'])
    for (const schema of [list.strict(), slow(list.strict())])
      expect(validate(schema, undefined)).to.equal(undefined)
  })

  it('stays synchronous without an asynchronous test, and is a promise with one', async () => {
    const taken = yup.object({
      name: yup.string().test('free', '${path} is taken', async (name) => name !== 'ada'),
    })
    expect(validate(slow(order), {})).not.to.be.instanceOf(Promise)
    const result = validate(taken, { name: 'ada' })
    expect(result).to.be.instanceOf(Promise)
    expect(issuesOf(await result)).to.deep.equal({ name: 'name is taken' })
    expect(await validate(taken, { name: 'bob' })).to.deep.equal({ name: 'bob' })
  })

  it('rethrows the error of a custom test', async () => {
    const broken = yup.string().test('x', 'x', () => {
      throw new Error('no database')
    })
    expect(() => validate(broken, 'a')).to.throw('no database')
    const rejecting = yup.string().test('x', 'x', () => Promise.reject(new Error('no database')))
    await (validate(rejecting, 'a') as Promise<unknown>).then(
      () => expect.fail('resolved'),
      (error: Error) => expect(error.message).to.equal('no database'),
    )
  })
})

describe('Hostile input', () => {
  const deep = (levels: number): unknown => {
    let value: unknown = 'x'
    for (let level = 0; level < levels; level++) value = [value]
    return value
  }
  const cyclic: Record<string, unknown> = { name: 'a' }
  cyclic.self = cyclic
  const parsed = (text: string): unknown => JSON.parse(text) as unknown
  const values: Readonly<Record<string, unknown>> = {
    'own constructor': parsed('{"constructor":1}'),
    'own __proto__': parsed('{"__proto__":{"admin":true},"name":"x"}'),
    'own toString': parsed('{"toString":1,"valueOf":1,"hasOwnProperty":1,"isPrototypeOf":1}'),
    'toString inside': parsed('{"name":{"toString":1},"flag":{"toString":null},"list":[{"constructor":1}]}'),
    'toJSON inside': parsed('{"name":{"toJSON":1},"at":{"valueOf":1}}'),
    'objects everywhere': { name: {}, age: {}, flag: {}, at: {}, list: {}, inner: [] },
    'arrays everywhere': { name: [], age: [], flag: [], at: [], list: [[]], inner: [] },
    'null everywhere': { name: null, age: null, flag: null, at: null, list: null, inner: null },
    'no prototype': Object.create(null),
    'no prototype inside': { name: Object.create(null) as unknown, flag: Object.create(null) as unknown },
    bigint: { name: 5n, age: { n: 5n }, list: [5n] },
    symbol: { name: Symbol('x'), flag: Symbol('x'), age: Symbol('x'), at: Symbol('x') },
    function: { name: () => 1, inner: () => 1 },
    cyclic: { name: cyclic, inner: cyclic, list: [cyclic] },
    'nested 100,000 deep': { name: deep(100_000), list: deep(100_000), inner: { a: deep(100_000) } },
    'nested 900 deep, where quoting costs the square': {
      name: deep(900),
      age: deep(900),
      inner: { a: deep(900) },
    },
    'wide and nested': { name: Array.from({ length: 5_000 }, () => deep(50)) },
    nothing: undefined,
  }
  const plain = yup.object({
    name: yup.string().trim().lowercase(),
    age: yup.number(),
    flag: yup.boolean(),
    at: yup.date(),
    list: yup.array(yup.string().trim()),
    inner: yup.object({ a: yup.string() }),
    any: yup.mixed(),
  })
  const lazy = yup.object({
    name: yup.lazy(() => yup.string().trim()),
    inner: yup
      .object({ a: yup.string() })
      .when('name', ([name], inner) => (name === 'x' ? inner.required() : inner)),
    list: yup.array(yup.lazy(() => yup.object({ a: yup.string() }))),
  })
  const schemas: Readonly<Record<string, Schema>> = {
    'a compiled schema': plain,
    'a stripping schema': plain.noUnknown(),
    'an exact schema': plain.exact(),
    'a strict schema': plain.strict(),
    'a schema with a custom test': slow(plain),
    'a schema with lazy and conditional parts': lazy,
    'a zod schema': z.object({
      name: z.string().optional(),
      inner: z.record(z.string(), z.unknown()).optional(),
    }),
    'a scalar schema': yup.number(),
    'a list schema': slow(yup.array(yup.string().trim()).default(['a'])),
  }
  for (const [name, schema] of Object.entries(schemas))
    for (const location of ['body', 'query'] as const)
      it(`never makes ${name} throw (${location})`, () => {
        const { validate: run } = compileValidator(schema, location)
        for (const [what, value] of Object.entries(values)) {
          expect(() => run(value), what).not.to.throw()
        }
        expect(({} as { admin?: boolean }).admin).to.equal(undefined)
      })

  it('is not quoted at length', () => {
    const { issues } = validate(yup.string().strict(), { text: 'x'.repeat(100_000) }) as Invalid
    expect(issues[0]!.message.length).to.be.at.most(1_000)
  })

  it('names the path that cannot be cast', () => {
    const schema = slow(yup.object({ inner: yup.object({ name: yup.string().trim() }) }))
    expect(issuesOf(validate(schema, { inner: { name: {} } }))).to.have.keys('inner.name')
    const list = slow(yup.array(yup.object({ flag: yup.boolean().strict() })))
    const sent = [{ flag: true }, { flag: Object.create(null) as unknown }]
    expect(issuesOf(validate(list, sent))).to.have.keys('[1].flag')
  })

  it('drops undeclared inherited names at every depth', () => {
    const sent: unknown = JSON.parse(
      '{"constructor":1,"list":[{"__proto__":1,"a":"x"}],"any":{"constructor":2}}',
    )
    const schema = yup.object({ list: yup.array(yup.object({ a: yup.string() })), any: yup.mixed() })
    for (const one of [schema, slow(schema)])
      expect(JSON.stringify(validate(one, sent))).to.equal('{"list":[{"a":"x"}],"any":{"constructor":2}}')
  })
})

describe('A value that is not a schema', () => {
  for (const [given, named] of [
    [{ name: 'string' }, 'an object with the keys name'],
    [undefined, 'undefined'],
    [42, 'the number 42'],
    [yup.string, 'the function create'],
    [[], 'an array'],
  ] as const)
    it(`is rejected by name: ${named}`, () => {
      expect(() => compileValidator(given as unknown as Schema, 'body'))
        .to.throw(StartupError, named)
        .with.property('code', 'MORTAR_NOT_A_SCHEMA')
    })
})

describe('The fast path', () => {
  const compiled = (schema: unknown): boolean => compileYup(schema as YupNode, false) !== undefined
  class Odd extends yup.StringSchema {}

  it('is used for plain schemas', () => {
    expect(compiled(order)).to.equal(true)
    expect(compiled(yup.object({ a: yup.tuple([yup.number().round()]) }).strict())).to.equal(true)
  })

  for (const count of [30, 31, 32, 40])
    it(`returns the same for an object of ${count} fields`, () => {
      const names = Array.from({ length: count }, (_, index) => `field${index}`)
      const schema = yup.object(Object.fromEntries(names.map((name) => [name, yup.number().required()])))
      const full = Object.fromEntries(names.map((name, index) => [name, index]))
      expect(validate(schema, full)).to.equal(full)
      for (const name of [names[0]!, names.at(-1)!])
        expect(issuesOf(validate(schema, { ...full, [name]: undefined })), name).to.have.keys(name)
      expect(validate(schema.noUnknown(), { ...full, other: 1 })).to.deep.equal(full)
    })

  for (const [what, schema] of Object.entries({
    'a custom test': yup.string().test('x', 'x', () => true),
    'a custom transform': yup.string().transform((value: string) => value),
    'a condition': yup.string().when([], (_, inner) => inner),
    'a lazy field': yup.object({ a: yup.lazy(() => yup.string()) }),
    'a reference in a test': yup.object({ a: yup.number(), b: yup.number().min(yup.ref('a')) }),
    'a reference in a list': yup.object({ a: yup.string(), b: yup.string().oneOf([yup.ref('a')]) }),
    'a reference as a field': yup.object({ a: yup.string(), b: yup.ref('a') as unknown as yup.StringSchema }),
    'a schema of a class of its own': new Odd(),
    'a checked mixed': yup.mixed((value): value is number => value === 5),
    'a stripped field': yup.object({ a: yup.string().strip() }),
    'a default that reads its options': yup.string().default((options: unknown) => String(options)),
    'a parsed object': yup.object({ a: yup.string() }).json(),
    'renamed keys': yup.object({ a: yup.string() }).from('b', 'a'),
    'an async test': yup.string().test('x', 'x', async () => true),
  }))
    it(`is not used for ${what}`, () => {
      expect(compiled(schema)).to.equal(false)
    })
})

describe('A Standard Schema validator', () => {
  const schema = z.object({
    items: z.array(z.object({ qty: z.number().min(1) })),
    'a.b': z.string().optional(),
  })

  it('returns its typed value, and issues with the same form of path', async () => {
    expect(validate(schema, { items: [{ qty: 1 }], extra: 1 })).to.deep.equal({ items: [{ qty: 1 }] })
    expect(issuesOf(validate(schema, { items: [{ qty: 0 }], 'a.b': 5 }))).to.have.keys(
      'items[0].qty',
      '["a.b"]',
    )
    const async = z.string().refine(async (text) => text === 'ok', 'not ok')
    expect(issuesOf(await validate(async, 'no'))).to.deep.equal({ '': 'not ok' })
  })

  it('receives query text that is coerced by its JSON Schema', () => {
    const query = z.object({
      page: z.number().int().default(1),
      tag: z.array(z.string()).optional(),
      ids: z.array(z.number()).nullable().optional(),
      flag: z.boolean().optional(),
    })
    const sent = { page: '2', tag: 'a', ids: ['1', '2'], flag: 'false' }
    expect(validate(query, sent, 'query')).to.deep.equal({ page: 2, tag: ['a'], ids: [1, 2], flag: false })
    for (const page of ['0x10', '1e3', ' 5 ', '', 'Infinity', ['1', '2']])
      expect(issuesOf(validate(query, { page }, 'query')), String(page)).to.have.keys('page')
  })
})
