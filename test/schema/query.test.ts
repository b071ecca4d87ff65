import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { expect } from 'chai'
import * as v from 'valibot'
import * as yup from 'yup'
import { z } from 'zod'
import { compileValidator, type ValidatedLocation } from '../../src/schema/compile-validator.ts'
import { compileYup } from '../../src/schema/yup/compile-yup.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import { jsonSchemaOf } from '../../src/schema/json-schema.ts'
import { queryBoolean } from '../../src/schema/yup/query-boolean.ts'
import { readDecimal } from '../../src/schema/yup/query-coercion.ts'
import type { YupNode } from '../../src/compat/yup.ts'

/** The same field, compiled and by yup itself. */
function both(field: yup.ISchema<unknown>, sent: unknown, location: ValidatedLocation = 'query'): unknown[] {
  const schemas = [yup.object({ field }), yup.object({ field }).test('own', 'never', () => true)]
  return schemas.map((schema) => {
    const result = compileValidator(schema, location).validate({ field: sent })
    return result instanceof Invalid ? result : (result as { field: unknown }).field
  })
}

function queryUpTo(most: number): YupNode {
  return yup.object({
    page: yup.number().required().max(most),
    q: yup.string().required().max(most),
  }) as unknown as YupNode
}

describe('Query coercion', () => {
  for (const [text, number] of [
    ['5', 5],
    ['-5', -5],
    ['+5', 5],
    ['05', 5],
    ['2.50', 2.5],
    ['-0.1', -0.1],
    ['123456789012345678', 123456789012345680],
  ] as const)
    it(`reads '${text}' as a number`, () => {
      expect(readDecimal(text)).to.equal(number)
      for (const value of both(yup.number(), text)) expect(value).to.equal(number)
    })

  const refused = ['0x10', '0b1', '1e3', ' 5 ', '5 ', '', ' ', 'Infinity', '-Infinity', 'NaN', '.5', '5.', '1_000', '1,5', '٣', '--1', '9'.repeat(400)] // prettier-ignore
  for (const text of refused)
    it(`refuses '${text.slice(0, 20)}' as a number`, () => {
      for (const location of ['query', 'params', 'headers'] as const)
        for (const value of both(yup.number(), text, location)) expect(value).to.be.instanceOf(Invalid)
    })

  it('quotes the text that was sent', () => {
    for (const value of both(yup.number(), '0x10'))
      expect((value as Invalid).issues).to.deep.equal([
        {
          path: 'field',
          rule: 'type',
          params: { type: 'number' },
          message:
            'field must be a `number` type, but the final value was: `NaN` (cast from the value `"0x10"`).',
        },
      ])
  })

  it('rejects a repeated parameter in place of one value', () => {
    for (const field of [yup.number(), yup.boolean(), yup.date(), yup.string(), queryBoolean()])
      for (const value of [...both(field, ['1', '2']), ...both(field, ['1'])])
        expect(value, field.describe().type).to.be.instanceOf(Invalid)
  })

  it('turns a scalar into a list of one, through optional, nullable and required', () => {
    const list = yup.array(yup.number().required())
    for (const field of [
      list,
      list.optional(),
      list.nullable(),
      list.required(),
      list.min(1),
      list.default([1]),
    ])
      for (const value of both(field, '7')) expect(value).to.deep.equal([7])
    for (const value of both(list, ['7', '8'])) expect(value).to.deep.equal([7, 8])
    for (const value of both(list, ['7', '0x8']))
      expect((value as Invalid).issues[0]?.path).to.equal('field[1]')
    for (const value of both(yup.array(yup.string()), '')) expect(value).to.deep.equal([''])
  })

  for (const [name, field] of Object.entries({
    number: yup.number(),
    'required number': yup.number().required(),
    'defined number': yup.number().defined(),
    'number with a default': yup.number().default(7),
    'number of a list': yup.number().oneOf([1, 2]),
    string: yup.string(),
    'required string': yup.string().required(),
    'nullable string': yup.string().required().nullable(),
    'string with a default': yup.string().default('7'),
    'string of a list': yup.string().oneOf(['1', '2']).required(),
  }))
    it(`has the results of yup for a member that is absent, empty or present: ${name}`, () => {
      for (const sent of [undefined, null, '', '1', '-1.5', 'x', ['1', '2']]) {
        const [compiled, byYup] = both(field, sent)
        expect(compiled, String(sent)).to.deep.equal(byYup)
      }
    })

  it('keeps the bounds of schemas with equal keys apart', () => {
    const schemas = [1, 2, 3].map((most) => compileYup(queryUpTo(most), true)!)
    for (const sent of [1, 2, 3])
      expect(
        schemas.map((validate) => validate({ page: String(sent), q: 'x'.repeat(sent) }) instanceof Invalid),
      ).to.deep.equal([sent > 1, sent > 2, false])
  })

  it('reads text for what other libraries describe as a choice with null', () => {
    const schemas = [
      z.object({ n: z.number().nullable(), b: z.boolean().nullish(), l: z.array(z.number()).nullable() }),
      toStandardJsonSchema(
        v.object({
          n: v.nullable(v.number()),
          b: v.nullish(v.boolean()),
          l: v.nullable(v.array(v.number())),
        }),
      ),
    ]
    for (const schema of schemas) {
      const { validate } = compileValidator(schema, 'query')
      expect(validate({ n: '5', b: 'TRUE', l: '7' })).to.deep.equal({ n: 5, b: true, l: [7] })
      expect(validate({ n: 'null', l: [] })).to.be.instanceOf(Invalid)
    }
  })

  it('does not coerce a body', () => {
    for (const value of both(yup.number(), '0x10', 'body')) expect(value).to.equal(16)
    for (const value of both(yup.array(), 'a', 'body')) expect(value).to.be.instanceOf(Invalid)
  })

  it('also coerces under strict(), where yup rejects text for a number', () => {
    for (const value of both(yup.number().strict(), '5')) expect(value).to.equal(5)
  })

  it('applies defaults to absent keys', () => {
    for (const value of both(yup.number().default(20), undefined)) expect(value).to.equal(20)
  })

  it('does not change its input, and ignores inherited names', () => {
    const byYup = yup.object({ page: yup.number() })
    const schemas = [byYup, byYup.test('own', 'never', () => true), z.object({ page: z.number() })]
    for (const schema of schemas) {
      const { validate } = compileValidator(schema, 'query')
      const sent = Object.assign(Object.create(null) as object, { page: '2', constructor: '1' })
      expect(validate(sent)).to.have.property('page', 2)
      expect(sent).to.have.property('page', '2')
    }
  })
})

describe('queryBoolean', () => {
  for (const text of ['true', '1', 'yes', 'on', 'TRUE', 'Yes', 'oN'])
    it(`reads '${text}' as true`, () => {
      for (const value of both(queryBoolean(), text)) expect(value).to.equal(true)
    })
  for (const text of ['false', '0', 'no', 'off', 'FALSE', 'No', 'oFF'])
    it(`reads '${text}' as false`, () => {
      for (const value of both(queryBoolean(), text)) expect(value).to.equal(false)
    })
  for (const text of ['', 'y', 'n', 'nope', '2', 'truee', ' true', 'null'])
    it(`refuses '${text}'`, () => {
      for (const value of both(queryBoolean(), text)) expect(value).to.be.instanceOf(Invalid)
    })

  it('can have a default and can be required', () => {
    for (const value of both(queryBoolean().default(false), undefined)) expect(value).to.equal(false)
    for (const value of both(queryBoolean().required(), undefined))
      expect((value as Invalid).issues[0]?.message).to.equal('field is a required field')
    for (const value of both(queryBoolean(), undefined)) expect(value).to.equal(undefined)
  })

  it('compiles, and is a boolean in JSON Schema', () => {
    expect(compileYup(queryBoolean() as unknown as YupNode, true)).to.be.a('function')
    expect(jsonSchemaOf(queryBoolean().default(false), 'input')).to.deep.equal({
      type: 'boolean',
      default: false,
    })
  })
})
