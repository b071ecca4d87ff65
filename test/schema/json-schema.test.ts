import { createRequire } from 'node:module'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { expect } from 'chai'
import * as v from 'valibot'
import * as yup from 'yup'
import { z } from 'zod'
import { jsonSchemaOf } from '../../src/schema/json-schema.ts'
import type { Schema } from '../../src/schema/schema.ts'

const input = (schema: unknown): unknown => jsonSchemaOf(schema as Schema, 'input')
const output = (schema: unknown): unknown => jsonSchemaOf(schema as Schema, 'output')

function omissionsOf(schema: unknown): string[] {
  const paths: string[] = []
  jsonSchemaOf(schema as Schema, 'input', {
    onOmission: (path, reason) => paths.push(`${path}: ${reason}`),
  })
  return paths
}

describe('The JSON Schema of a yup schema', () => {
  const cases: readonly (readonly [string, yup.ISchema<unknown>, object])[] = [
    ['a string', yup.string(), { type: 'string' }],
    ['a required string, which is not empty', yup.string().required(), { type: 'string', minLength: 1 }],
    ['lengths', yup.string().required().min(2).max(5), { type: 'string', minLength: 2, maxLength: 5 }],
    ['an exact length', yup.string().length(3), { type: 'string', minLength: 3, maxLength: 3 }],
    ['an e-mail address', yup.string().email(), { type: 'string', format: 'email' }],
    ['a URL', yup.string().url(), { type: 'string', format: 'uri' }],
    ['a UUID', yup.string().uuid(), { type: 'string', format: 'uuid' }],
    ['a date-time string', yup.string().datetime(), { type: 'string', format: 'date-time' }],
    ['an expression', yup.string().matches(/^\d+$/u), { type: 'string', pattern: '^\\d+$' }],
    [
      'two expressions',
      yup.string().matches(/a/).matches(/b/),
      { type: 'string', pattern: 'a', allOf: [{ pattern: 'b' }] },
    ],
    ['a number', yup.number().min(1).max(5), { type: 'number', minimum: 1, maximum: 5 }],
    ['an integer', yup.number().integer().positive(), { type: 'integer', exclusiveMinimum: 0 }],
    ['a bound that is not included', yup.number().lessThan(9), { type: 'number', exclusiveMaximum: 9 }],
    ['a boolean', yup.boolean(), { type: 'boolean' }],
    ['a true', yup.boolean().isTrue(), { type: 'boolean', const: true }],
    ['a date', yup.date().min('2020-01-01'), { type: 'string', format: 'date-time' }],
    ['anything', yup.mixed(), {}],
    ['a list of values', yup.string().oneOf(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['one value', yup.mixed().oneOf([5]), { const: 5 }],
    ['refused values', yup.string().notOneOf(['a']), { type: 'string', not: { enum: ['a'] } }],
    ['null', yup.string().nullable(), { type: ['string', 'null'] }],
    ['null in a list', yup.string().oneOf(['a']).nullable(), { type: ['string', 'null'], enum: ['a', null] }],
    ['a default', yup.number().default(5), { type: 'number', default: 5 }],
    ['a default date', yup.date().default(new Date(0)), { type: 'string', format: 'date-time', default: '1970-01-01T00:00:00.000Z' }],
    ['no default that is worked out', yup.date().default(() => new Date()), { type: 'string', format: 'date-time' }],
    [
      'an array',
      yup.array(yup.string().required()).min(1).max(3),
      { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 3 },
    ],
    ['an array of anything', yup.array(), { type: 'array' }],
    [
      'a tuple',
      yup.tuple([yup.string(), yup.number()]),
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2, maxItems: 2 },
    ],
    [
      'annotations',
      yup.string().label('Name').meta({ description: 'Full name', example: 'Ada', format: 'name', 'x-order': 1, secret: 1 }),
      { type: 'string', title: 'Name', description: 'Full name', examples: ['Ada'], format: 'name', 'x-order': 1 },
    ],
    ['a type of meta', yup.mixed().meta({ type: 'string', format: 'binary' }), { type: 'string', format: 'binary' }],
    ['no type of meta that JSON does not have', yup.string().meta({ type: 'textarea' }), { type: 'string' }],
    ['a length before required', yup.string().min(5).required(), { type: 'string', minLength: 5 }],
    ['a length inside wider bounds', yup.string().length(4).min(2).max(9), { type: 'string', minLength: 4, maxLength: 4 }],
    ['a required list of values', yup.string().oneOf(['a', 'b']).required(), { type: 'string', enum: ['a', 'b'] }],
    ['a lazy schema that ignores the value', yup.lazy(() => yup.number()), { type: 'number' }],
    ['a free object', yup.object(), { type: 'object', additionalProperties: true }],
    ['a closed object', yup.object({ a: yup.string() }).noUnknown(), { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }],
    ['an exact object', yup.object({ a: yup.string() }).exact(), { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }],
  ] // prettier-ignore
  for (const [what, schema, expected] of cases)
    it(`describes ${what}`, () => {
      expect(input(schema)).to.deep.equal(expected)
    })

  const nested = yup.object({
    optional: yup.string(),
    required: yup.string().required(),
    defined: yup.mixed().defined(),
    defaulted: yup.number().default(1),
    inner: yup.object({ a: yup.string().required() }),
    loose: yup.object({ a: yup.string() }),
    maybe: yup.object({ a: yup.string().required() }).default(undefined),
    gone: yup.string().strip(),
  })

  it('requires in input what yup requires, also an optional object with a required field', () => {
    expect(input(nested)).to.have.property('required').that.has.members(['required', 'defined', 'inner'])
    expect(() => nested.validateSync({ required: 'x', defined: 1 })).to.throw('inner.a is a required field')
  })

  it('requires in output each key that is always present, and omits stripped keys', () => {
    expect(output(nested)).to.have.property('required').that.has.members(['required', 'defined', 'defaulted'])
    expect(output(nested)).to.have.property('properties').that.does.not.have.property('gone')
  })

  it('reports each omitted part with its path, and allows any value there', () => {
    const schema = yup.object({
      lazy: yup.lazy((value) => (value ? yup.string() : yup.number())),
      list: yup.array(yup.object({ custom: yup.string().test('odd', 'x', () => true) })),
      when: yup.string().when('lazy', (_, inner) => inner),
      flags: yup.string().matches(/a/i),
      lines: yup.string().matches(/a.b/s).matches(/^c$/mu),
      unicode: yup.string().matches(/é/u),
    })
    expect(omissionsOf(schema)).to.have.members([
      'lazy: a lazy schema is not shown',
      "list[].custom: its test 'odd' is not shown",
      'when: its conditions (when) are not shown',
      'flags: its expression has flags (i), which a pattern cannot have',
      'lines: its expression has flags (s), which a pattern cannot have',
      'lines: its expression has flags (mu), which a pattern cannot have',
    ])
    expect(input(schema)).to.have.nested.property('properties.lazy').that.deep.equals({})
    expect(input(schema)).to.have.nested.property('properties.unicode.pattern', 'é')
  })

  it('never throws', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    for (const odd of [
      null,
      5,
      {},
      { '~standard': {} },
      yup.ref('a'),
      yup.mixed().default(cyclic),
      yup.number().default(5n as never),
    ])
      expect(input(odd)).to.deep.equal({})
  })

  it('is a valid JSON Schema that agrees with yup', () => {
    const Ajv = (
      createRequire(import.meta.url)('ajv/dist/2020.js') as { default: new (options: object) => Compiler }
    ).default
    const check = new Ajv({ strict: false, formats: { email: true } }).compile(input(nested))
    for (const value of [
      {},
      { required: 'x', defined: 1, inner: { a: 'x' } },
      { required: '', defined: 1, inner: { a: 'x' } },
      { required: 'x', defined: 1, inner: {} },
    ])
      expect(check(value), JSON.stringify(value)).to.equal(nested.isValidSync(value))
  })
})

interface Compiler {
  compile(schema: unknown): (value: unknown) => boolean
}

describe('The JSON Schema of a Standard Schema validator', () => {
  it('is the schema of the validator, by direction', () => {
    const schema = z.object({ a: z.number(), b: z.array(z.string()).default([]), at: z.date().optional() })
    const properties = {
      a: { type: 'number' },
      b: { type: 'array', items: { type: 'string' }, default: [] },
      at: {},
    }
    expect(input(schema)).to.deep.equal({ type: 'object', properties, required: ['a'] })
    expect(output(schema)).to.deep.include({ required: ['a', 'b'] })
  })

  it('leaves out the parts of valibot that have no JSON Schema, and no others', () => {
    const object = v.object({ a: v.pipe(v.number(), v.brand('count')), at: v.date() })
    const schema = toStandardJsonSchema(
      v.pipe(
        object,
        v.check(({ a }) => a > 1),
      ),
    )
    const properties = { a: { type: 'number' }, at: {} }
    expect(input(schema)).to.deep.equal({ type: 'object', properties, required: ['a', 'at'] })
    expect(output(schema)).to.deep.equal(input(schema))
  })

  it('is closed below a key with the signs of a pointer', () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false }
    const schema = z.object({ 'a/~1': z.strictObject({}) })
    expect(output(schema)).to.deep.equal({
      type: 'object',
      properties: { 'a/~1': closed },
      required: ['a/~1'],
    })
  })

  it('has its references expanded, except where a schema refers to itself', () => {
    const user = z.object({ id: z.string() }).meta({ id: 'User' })
    const tree = z.object({
      user,
      get children() {
        return z.array(tree)
      },
    })
    const described = JSON.stringify(input(tree))
    expect(described).not.to.match(/\$(ref|defs|schema)/)
    expect(described).to.contain('"id":{"type":"string"}')
    expect(omissionsOf(tree)).to.have.length(1)
  })

  it('allows anything if the library has no JSON Schema', () => {
    const bare = { '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) } }
    expect(input(bare)).to.deep.equal({})
    expect(omissionsOf(bare)).to.have.length(1)
  })
})
