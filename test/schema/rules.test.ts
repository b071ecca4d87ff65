import { expect } from 'chai'
import * as yup from 'yup'
import { z } from 'zod'
import { file } from 'mortar'
import { ValidationFailed } from '../../src/errors/http-error.ts'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import type { Schema, StandardLike } from '../../src/schema/schema.ts'
import { UploadedFile } from '../../src/schema/uploaded-file.ts'

const rulesOf = async (schema: Schema, value: unknown) => {
  const result = await compileValidator(schema, 'body').validate(value)
  expect(result).to.be.instanceOf(Invalid)
  return (result as Invalid).issues.map(({ path, rule, params }) => ({
    path,
    rule,
    ...(params && { params }),
  }))
}

/** The same schema with a test of its own, so that yup itself validates it. */
const slow = (schema: yup.AnySchema): yup.AnySchema => (schema as yup.Schema).test('own', 'never', () => true)

const upload = new UploadedFile({
  filepath: '/tmp/a',
  originalFilename: 'a',
  mimetype: 'text/plain',
  size: 9,
})
const is = (rule: string, params?: object) => ({ rule, ...(params && { params }) })

/** A rule, the yup schema and the zod schema that break it for a value. */
const ROWS: readonly (readonly [object, yup.AnySchema | undefined, z.ZodType | undefined, unknown])[] = [
  [is('required'), yup.string().required(), z.string(), undefined],
  [is('required'), yup.string().required(), z.string(), null],
  [is('required'), yup.string(), z.string(), null],
  [is('required'), yup.string().required(), undefined, ''],
  [is('required'), yup.string().oneOf(['a']).required(), z.enum(['a']), undefined],
  [is('type', { type: 'number' }), yup.number(), z.number(), 'many'],
  [is('type', { type: 'string' }), yup.string().strict(), z.string(), 5],
  [is('type', { type: 'boolean' }), yup.boolean(), z.boolean(), 'maybe'],
  [is('type', { type: 'date' }), yup.date(), z.date(), 'soon'],
  [is('type', { type: 'array' }), yup.array(), z.array(z.unknown()), 5],
  [is('type', { type: 'array' }), yup.tuple([yup.string()]), z.tuple([z.string()]), 5],
  [is('type', { type: 'object' }), yup.object(), z.object({}), 5],
  [is('min', { min: 3 }), yup.string().min(3), z.string().min(3), 'a'],
  [is('max', { max: 1 }), yup.string().max(1), z.string().max(1), 'abc'],
  [is('length', { length: 2 }), yup.string().length(2), z.string().length(2), 'abc'],
  [is('min', { min: 3 }), yup.number().min(3), z.number().min(3), 1],
  [is('max', { max: 3 }), yup.number().max(3), z.number().max(3), 4],
  [is('min', { more: 3 }), yup.number().moreThan(3), z.number().gt(3), 3],
  [is('max', { less: 3 }), yup.number().lessThan(3), z.number().lt(3), 3],
  [is('integer'), yup.number().integer(), z.int(), 1.5],
  [is('multipleOf', { divisor: 3 }), undefined, z.number().multipleOf(3), 4],
  [is('min', { min: 1 }), yup.array().min(1), z.array(z.unknown()).min(1), []],
  [is('max', { max: 1 }), yup.array().max(1), z.array(z.unknown()).max(1), [1, 2]],
  [is('length', { length: 1 }), yup.array().length(1), z.array(z.unknown()).length(1), []],
  [is('min', { min: '2020-01-01T00:00:00.000Z' }), yup.date().min(new Date('2020-01-01')), z.date().min(new Date('2020-01-01')), new Date(0)],
  [is('email'), yup.string().email(), z.email(), 'a'],
  [is('url'), yup.string().url(), z.url(), 'a'],
  [is('uuid'), yup.string().uuid(), z.uuid(), 'a'],
  [is('datetime'), yup.string().datetime(), z.iso.datetime(), 'a'],
  [is('matches', { regex: '^b$' }), yup.string().matches(/^b$/i), z.string().regex(/^b$/i), 'a'],
  [is('lowercase'), yup.string().lowercase().strict(), z.string().lowercase(), 'A'],
  [is('uppercase'), yup.string().uppercase().strict(), z.string().uppercase(), 'a'],
  [is('trim'), yup.string().trim().strict(), undefined, ' a'],
  [is('startsWith', { prefix: 'b' }), undefined, z.string().startsWith('b'), 'a'],
  [is('oneOf', { values: ['a', 'b'] }), yup.string().oneOf(['a', 'b']), z.enum(['a', 'b']), 'c'],
  [is('oneOf', { values: [true] }), yup.boolean().isTrue(), z.literal(true), false],
  [is('notOneOf', { values: ['a'] }), yup.string().notOneOf(['a']), undefined, 'a'],
  [is('noUnknown'), yup.object({}).exact(), z.strictObject({}), { secret: 1 }],
  [is('union'), undefined, z.union([z.string(), z.number()]), true],
  [is('custom'), yup.mixed().test((value) => value === 'b'), z.string().refine((value) => value === 'b'), 'a'],
  [is('slug'), yup.string().test('slug', 'no', (value) => value === 'b'), undefined, 'a'],
  [is('slug', { most: 3 }), yup.string().test({ name: 'slug', params: { most: 3, hidden: yup.ref('x') }, test: () => false }), undefined, 'a'],
  [is('taken'), yup.string().test('slug', 'no', (_, { createError }) => createError({ type: 'taken', params: { value: 'a' } })), undefined, 'a'],
  [is('type', { type: 'file' }), file(), undefined, 'a'],
  [is('fileSize', { max: 5 }), file({ maxSize: 5 }), undefined, upload],
  [is('fileType', { types: ['image/*'] }), file({ types: ['image/*'] }), undefined, upload],
  [is('maxItems', { maxItems: 2_000 }), slow(yup.array(yup.mixed())), z.array(z.unknown()), Array.from({ length: 2_001 }, () => 1)],
] // prettier-ignore

/** Issues as valibot 1.5 and arktype 2.2 give them, and their rule. */
const GIVEN: readonly (readonly [object, unknown, object])[] = [
  [{ kind: 'schema', type: 'object', expected: '"a"' }, undefined, is('required')],
  [{ kind: 'schema', type: 'picklist', expected: '("a")' }, null, is('required')],
  [{ kind: 'schema', type: 'string', expected: 'string' }, 5, is('type', { type: 'string' })],
  [{ kind: 'schema', type: 'loose_object', expected: 'Object' }, 5, is('type', { type: 'object' })],
  [{ kind: 'schema', type: 'strict_object', expected: 'Object' }, 5, is('type', { type: 'object' })],
  [{ kind: 'schema', type: 'strict_object', expected: 'never' }, 5, is('noUnknown')],
  [{ kind: 'schema', type: 'picklist', expected: '("a" | "b")' }, 'c', is('oneOf')],
  [{ kind: 'schema', type: 'union', issues: [] }, 'c', is('union')],
  [{ kind: 'validation', type: 'min_length', requirement: 3 }, 'a', is('min', { min: 3 })],
  [{ kind: 'validation', type: 'gt_value', requirement: 3 }, 3, is('min', { more: 3 })],
  [{ kind: 'validation', type: 'max_value', requirement: new Date(0) }, new Date(), is('max', { max: '1970-01-01T00:00:00.000Z' })],
  [{ kind: 'validation', type: 'length', requirement: 3 }, 'a', is('length', { length: 3 })],
  [{ kind: 'validation', type: 'non_empty' }, '', is('min', { min: 1 })],
  [{ kind: 'validation', type: 'safe_integer', requirement: () => true }, 1e21, is('integer')],
  [{ kind: 'validation', type: 'email', requirement: /x/ }, 'a', is('email')],
  [{ kind: 'validation', type: 'regex', requirement: /^b$/ }, 'a', is('matches', { regex: '^b$' })],
  [{ kind: 'validation', type: 'iso_timestamp', requirement: /x/ }, 'a', is('datetime')],
  [{ kind: 'validation', type: 'not_value', requirement: 'a' }, 'a', is('notOneOf', { values: ['a'] })],
  [{ kind: 'validation', type: 'check', requirement: () => true }, 'a', is('custom')],
  [{ kind: 'validation', type: 'credit_card', requirement: [/x/] }, 'a', is('credit_card')],
  [{ code: 'required' }, undefined, is('required')],
  [{ code: 'domain', domain: 'string', data: null }, null, is('required')],
  [{ code: 'domain', domain: 'string', data: 5 }, 5, is('type', { type: 'string' })],
  [{ code: 'proto', proto: Array }, 5, is('type', { type: 'array' })],
  [{ code: 'proto', proto: Date }, 5, is('type', { type: 'date' })],
  [{ code: 'min', rule: 3, exclusive: true }, 1, is('min', { more: 3 })],
  [{ code: 'minLength', rule: 3 }, 'a', is('min', { min: 3 })],
  [{ code: 'divisor', rule: 1 }, 1.5, is('integer')],
  [{ code: 'divisor', rule: 3 }, 2, is('multipleOf', { divisor: 3 })],
  [{ code: 'pattern', rule: '^b$', flags: '' }, 'a', is('matches', { regex: '^b$' })],
  [{ code: 'unit', unit: 5 }, 6, is('oneOf', { values: [5] })],
  [{ code: 'union', errors: [{ code: 'unit', unit: 'a' }, { code: 'unit', unit: 'b' }] }, 'c', is('oneOf', { values: ['a', 'b'] })],
  [{ code: 'union', errors: [{ code: 'unit', unit: true }, { code: 'unit', unit: false }] }, 'c', is('type', { type: 'boolean' })],
  [{ code: 'predicate', expected: 'removed' }, 1, is('noUnknown')],
  [{ code: 'predicate' }, 1, is('custom')],
  [{}, 'a', is('custom')],
  [{ code: 5 }, 'a', is('custom')],
  [{ code: 'two words' }, 'a', is('custom')],
  [{ code: 'constructor' }, 'a', is('constructor')],
] // prettier-ignore

const SECRET = 'correct horse battery'

describe('The rule of an issue', () => {
  for (const [index, [expected, plain, other, value]] of ROWS.entries()) {
    const { rule } = expected as { rule: string }
    for (const [library, schema] of [
      ['yup', plain],
      ['yup itself', plain && slow(plain)],
      ['zod', other],
    ] as const)
      if (schema !== undefined)
        it(`is ${rule} with the constants of the schema (${library}, row ${index})`, async () => {
          const [first] = await rulesOf(schema as Schema, value)
          expect(first).to.deep.equal({ path: '', ...expected })
        })
  }

  it('is that of the value of an item, which may be null', async () => {
    for (const schema of [
      yup.object({ list: yup.array(yup.number().required()) }),
      z.object({ list: z.array(z.number()) }),
    ])
      expect(await rulesOf(schema, { list: ['many', null] })).to.deep.equal([
        { path: 'list[0]', rule: 'type', params: { type: 'number' } },
        { path: 'list[1]', rule: 'required' },
      ])
  })

  for (const [issue, value, expected] of GIVEN)
    it(`is read from the members that a library adds: ${JSON.stringify(issue)}`, async () => {
      const validate = () => ({ issues: [{ message: 'no', path: ['a'], ...issue }] })
      const schema: StandardLike = { '~standard': { version: 1, vendor: 'other', validate } }
      expect(await rulesOf(schema, { a: value })).to.deep.equal([{ path: 'a', ...expected }])
    })

  it('is on every issue, at its path', async () => {
    const schema = yup.object({ list: yup.array(yup.object({ qty: yup.number().min(1).required() })) })
    for (const one of [schema, slow(schema)])
      expect(await rulesOf(one, { list: [{}, { qty: 0 }] })).to.deep.equal([
        { path: 'list[0].qty', rule: 'required' },
        { path: 'list[1].qty', rule: 'min', params: { min: 1 } },
      ])
  })

  it('never has a value of the request among its parameters', async () => {
    const { ref } = yup
    const body = { password: SECRET, other: SECRET, n: 4, email: SECRET }
    const schema = yup.object({
      password: yup.string(),
      other: yup.string().oneOf(['x', 'y']).notOneOf([ref('password')]).min(90).matches(/^x/),
      n: yup.number().min(ref('password.length')).max(ref('nothing')).integer().moreThan(ref('email.length')),
      email: yup.string().email().test('own', 'no', (value, { createError }) => createError({ params: { value } })),
    }) // prettier-ignore
    const zod = z.object({
      password: z.literal('x'),
      email: z.email(),
      other: z.string().superRefine((value, { addIssue }) => addIssue({ code: 'custom', params: { value } })),
      n: z.strictObject({}),
    })
    for (const one of [schema, zod]) expect(JSON.stringify(await rulesOf(one, body))).not.to.include(SECRET)
  })

  it('has no parameters that are too long for a response', async () => {
    const values = Array.from({ length: 51 }, (_, index) => `v${index}`)
    expect(await rulesOf(yup.string().oneOf(values), 'x')).to.deep.equal([{ path: '', rule: 'oneOf' }])
    expect(await rulesOf(yup.string().matches(new RegExp(`^${'a'.repeat(300)}$`)), 'x')).to.deep.equal([
      { path: '', rule: 'matches' },
    ])
  })

  it('is maxDepth for a value that is nested too deeply', async () => {
    let deep: unknown = 1
    for (let level = 0; level < 200; level++) deep = [deep]
    for (const schema of [slow(yup.mixed()), z.unknown()])
      expect(await rulesOf(schema as Schema, deep)).to.deep.equal([
        { path: '', rule: 'maxDepth', params: { maxDepth: 100 } },
      ])
  })

  it('is custom for an issue of the application without one', () => {
    const issue = { location: 'body', path: 'a', message: 'no' } as const
    expect(new ValidationFailed([issue]).errors).to.deep.equal([{ ...issue, rule: 'custom' }])
    expect(new ValidationFailed([{ ...issue, rule: 'taken' }]).errors[0]?.rule).to.equal('taken')
  })
})
