import { expect } from 'chai'
import { array, boolean, date, number, object, string, type AnySchema } from 'yup'
import { exampleOf } from '../../src/openapi/example.ts'
import { jsonSchemaOf } from '../../src/schema/json-schema.ts'

const SCHEMAS: Record<string, AnySchema> = {
  'an address': string().email().required(),
  'an id': string().uuid().required(),
  'an URL': string().url().required(),
  'a date': date().required(),
  'a length': string().min(12).max(14).required(),
  'a short text': string().max(2).required(),
  'a choice': string().oneOf(['asc', 'desc']).required(),
  'a number between': number().min(10).max(20).required(),
  'a number above': number().moreThan(5).lessThan(6).required(),
  'an integer above': number().integer().moreThan(5).required(),
  'an integer below': number().integer().lessThan(0).required(),
  'an integer between two others': number().integer().moreThan(5).lessThan(7).required(),
  'a negative number': number().max(-3).required(),
  'a list': array(string().min(3).required()).min(2).max(3).required(),
  'a default': number().default(7),
  'a nullable text': string().nullable().defined(),
  'nested objects': object({
    name: string().required(),
    inner: object({ on: boolean().required(), when: date() }).required(),
  }),
}

describe('examples of bodies', () => {
  for (const [name, schema] of Object.entries(SCHEMAS))
    it(`are accepted by their schema: ${name}`, () => {
      const example = exampleOf(jsonSchemaOf(schema, 'input'), 'title')
      expect(example).not.to.equal(undefined)
      expect(schema.isValidSync(example), JSON.stringify(example)).to.equal(true)
    })

  it('are the example of the schema if it has one', () => {
    const schema = object({ size: number().min(3).meta({ example: 12 }), kind: string().default('a') })
    expect(exampleOf(jsonSchemaOf(schema, 'input'))).to.deep.equal({ size: 12, kind: 'a' })
  })

  it('skip an empty default, which is often that of an optional field', () => {
    const properties = {
      title: { type: 'string', default: '' },
      count: { type: 'integer', default: 0 },
      done: { type: 'boolean', default: false },
    }
    expect(exampleOf({ type: 'object', properties })).to.deep.equal({ title: 'title', count: 0, done: false })
  })

  it('have at most 100 items, however many the schema asks for', () => {
    const items = { type: 'integer' }
    expect(exampleOf({ type: 'array', items, minItems: 1_000_000 })).to.have.lengthOf(100)
  })

  it('leave out what has none: files and strings with a pattern', () => {
    const properties = {
      file: { type: 'string', format: 'binary' },
      odd: { type: 'string', pattern: '^(?=x)y$' },
    }
    expect(exampleOf({ type: 'object', properties })).to.deep.equal({})
  })
})
