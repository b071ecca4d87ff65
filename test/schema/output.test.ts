import { expect } from 'chai'
import * as yup from 'yup'
import { z } from 'zod'
import { compileOutput } from '../../src/schema/compile-output.ts'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import { isoText } from '../../src/support/iso-date.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { compileSerializer } from '../../src/schema/serializer.ts'
import { Random } from './support/random.ts'

const note = yup.object({
  id: yup.number().integer().required(),
  title: yup.string().required(),
  at: yup.date().required(),
  done: yup.boolean(),
  owner: yup.object({ name: yup.string().required() }),
  tags: yup.array(yup.object({ name: yup.string().required() }).required()),
  deleted: yup.date().nullable(),
  extra: yup.mixed(),
  size: yup.number().default(0),
})
const at = new Date('2021-03-04T05:06:07.089Z')
const iso = '2021-03-04T05:06:07.089Z'
const slow = (schema: yup.Schema): yup.Schema => schema.test('own', 'never', () => true)

const invalid = (schema: unknown, value: unknown): Record<string, string> => {
  const result = compileSerializer(schema as Schema)(value)
  expect(result).to.be.instanceOf(Invalid)
  return Object.fromEntries((result as Invalid).issues.map(({ path, message }) => [path, message]))
}

for (const [how, schema] of [
  ['A serializer', note],
  ['A serializer of a schema that is not plain', slow(note)],
] as const)
  describe(how, () => {
    const serialize = compileSerializer(schema as Schema)
    const written = (value: unknown): unknown => JSON.parse(serialize(value) as string)

    it('drops undeclared keys, also in nested objects and arrays', () => {
      const row = {
        id: 1,
        title: 'a',
        at,
        secret: 's',
        owner: { name: 'x', hash: 'h' },
        tags: [{ name: 't', id: 1 }],
      }
      expect(written(row)).to.deep.equal({
        id: 1,
        title: 'a',
        at: iso,
        owner: { name: 'x' },
        tags: [{ name: 't' }],
        size: 0,
      })
      expect(row.owner, 'the value stays as it is').to.deep.equal({ name: 'x', hash: 'h' })
    })

    it('accepts dates, and ISO strings for dates, and writes ISO strings', () => {
      for (const value of [at, iso, '2021-03-04T06:06:07.089+01:00'])
        expect(written({ id: 1, title: 'a', at: value })).to.have.property('at', iso)
      expect(written({ id: 1, title: 'a', at: '2021-03-04' })).to.have.property(
        'at',
        '2021-03-04T00:00:00.000Z',
      )
      for (const value of ['yesterday', '5', 5, '2021-13-45', new Date(Number.NaN)])
        expect(Object.keys(invalid(schema, { id: 1, title: 'a', at: value }))).to.deep.equal(['at'])
    })

    it('accepts entities and other class instances, with their getters', () => {
      class Entity {
        id = 1
        at = at
        secret = 's'
        get title(): string {
          return `number ${this.id}`
        }
      }
      expect(written(new Entity())).to.deep.equal({ id: 1, title: 'number 1', at: iso, size: 0 })
    })

    it('uses the result of toJSON', () => {
      const text = { toJSON: () => 'a title' }
      const row = { toJSON: () => ({ id: 1, title: text, at, secret: 's' }) }
      expect(written(row)).to.deep.equal({ id: 1, title: 'a title', at: iso, size: 0 })
    })

    it('coerces nothing', () => {
      const issues = invalid(schema, { id: '5', title: 5, at, done: 'true', tags: { name: 'x' }, owner: [] })
      expect(Object.keys(issues)).to.have.members(['id', 'title', 'done', 'tags', 'owner'])
    })

    it('rejects null if it is not allowed, and numbers that JSON does not have', () => {
      expect(written({ id: 1, title: 'a', at, deleted: null })).to.have.property('deleted', null)
      for (const id of [null, Number.NaN, Infinity, -Infinity, 5n, undefined])
        expect(Object.keys(invalid(schema, { id, title: 'a', at })), String(id)).to.have.length(1)
      expect(invalid(schema, { id: 1, title: null, at })).to.have.keys('title')
    })

    it('leaves out absent optional keys, and does not invent absent objects', () => {
      expect(serialize({ id: 1, title: 'a', at, done: undefined, size: 2 })).to.equal(
        `{"id":1,"title":"a","at":"${iso}","size":2}`,
      )
    })

    it('keeps free-form values unchanged', () => {
      const extra = { any: [{ thing: 1 }], constructor: 1, at }
      expect(written({ id: 1, title: 'a', at, extra })).to.have.deep.property('extra', {
        any: [{ thing: 1 }],
        constructor: 1,
        at: iso,
      })
    })

    it('rejects a value that is not an object or that JSON cannot represent', () => {
      for (const value of [undefined, null, 5, 'text', [], () => 1])
        expect(invalid(schema, value)).to.include.keys('')
      const cyclic: Record<string, unknown> = {}
      cyclic.self = cyclic
      expect(invalid(schema, { id: 1, title: 'a', at, extra: cyclic })).to.include.keys('')
      expect(invalid(schema, { id: 1, title: 'a', at, extra: { n: 5n } })).to.include.keys('')
    })
  })

for (const [how, own] of [
  ['A serializer', (schema) => schema],
  ['A serializer of a schema that is not plain', slow],
] as const satisfies readonly [string, (schema: yup.Schema) => yup.Schema][])
  describe(`${how} with fields named like members of Object.prototype`, () => {
    const fields = { id: yup.number().required(), constructor: yup.string(), valueOf: yup.string() }
    const shape = yup.object({ ...fields, inner: yup.object({ toString: yup.number() }) })
    const serialize = compileSerializer(own(shape) as Schema)

    it('leaves out inherited keys', () => {
      class Entity {
        get id(): number {
          return 1
        }
      }
      for (const value of [{ id: 1 }, Object.create(null, { id: { value: 1 } }) as object, new Entity()])
        expect(serialize(value)).to.equal('{"id":1}')
      expect(serialize({ id: 1, inner: { a: 1 } })).to.equal('{"id":1,"inner":{}}')
    })

    it('writes own keys', () => {
      expect(serialize({ inner: { toString: 1 }, constructor: 'c', id: 1 })).to.equal(
        '{"id":1,"constructor":"c","inner":{"toString":1}}',
      )
    })
  })

describe('compileOutput', () => {
  it('keeps a string as a string, and drops undeclared keys', () => {
    expect(compileOutput(yup.string().required())('text')).to.equal('text')
    expect(compileOutput(yup.object({ name: yup.string() }))({ name: 'x', a: 1 })).to.deep.equal({
      name: 'x',
    })
    expect(compileValidator(yup.object(), 'response').validate({ a: 1 })).to.deep.equal({})
  })

  it('runs no transform, but applies the tests that belong to it', () => {
    expect(compileOutput(yup.string().trim())('a')).to.equal('a')
    expect(compileOutput(yup.string().trim())(' a ')).to.be.instanceOf(Invalid)
  })

  it('filters through lazy and conditional schemas', () => {
    const shape = yup.object({
      kind: yup.string().required(),
      value: yup
        .mixed()
        .when('kind', ([kind]) => (kind === 'n' ? yup.number().required() : yup.object({ a: yup.string() }))),
      item: yup.lazy((value: unknown) =>
        typeof value === 'string' ? yup.string() : yup.object({ b: yup.date() }),
      ),
    })
    const run = compileOutput(shape)
    expect(run({ kind: 'o', value: { a: 'x', z: 1 }, item: { b: at, z: 1 } })).to.deep.equal({
      kind: 'o',
      value: { a: 'x' },
      item: { b: iso },
    })
    expect(run({ kind: 'n', value: '5' })).to.be.instanceOf(Invalid)
  })

  it('uses a validator of another library, also an asynchronous one', async () => {
    const schema = z.object({ id: z.number(), inner: z.object({ a: z.string() }) })
    const serialize = compileSerializer(schema)
    expect(serialize({ id: 1, secret: 1, inner: { a: 'x', b: 1 } })).to.equal('{"id":1,"inner":{"a":"x"}}')
    expect(invalid(schema, { id: '1', inner: { a: 'x' } })).to.have.keys('id')
    const late = compileSerializer(z.object({ id: z.number().refine(async (id) => id > 0) }))
    expect(await late({ id: 1, secret: 1 })).to.equal('{"id":1}')
    expect(await late({ id: 0 })).to.be.instanceOf(Invalid)
    const test = compileSerializer(yup.object({ id: yup.number().test('x', 'x', async (id) => id === 1) }))
    expect(await test({ id: 1, secret: 1 })).to.equal('{"id":1}')
    expect(await test({ id: 2 })).to.be.instanceOf(Invalid)
  })
})

describe('isoText', () => {
  it('returns the result of toISOString', () => {
    const random = new Random(1)
    const edges = [
      0,
      -1,
      8.64e15,
      -8.64e15,
      Date.UTC(999, 11, 31),
      Date.UTC(1000, 0, 1),
      Date.UTC(9999, 11, 31, 23, 59, 59, 999),
    ]
    const times = [...edges, ...Array.from({ length: 5_000 }, () => Math.floor((random.next() - 0.3) * 4e14))]
    for (const time of times) expect(isoText(new Date(time))).to.equal(new Date(time).toISOString())
  })
})
