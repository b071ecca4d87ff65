import { expect } from 'chai'
import * as yup from 'yup'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { Invalid } from '../../src/schema/invalid.ts'

type Kind = 'body' | 'query'

/** A schema as a member of an object: compiled, and by yup itself. */
const FORMS: readonly (readonly [string, (member: yup.AnySchema) => yup.AnySchema])[] = [
  ['compiled', (member) => yup.object({ v: member })],
  ['by yup itself', (member) => yup.object({ v: member }).test('own', 'never', () => true)],
  ['lazy', (member) => yup.object({ v: yup.lazy(() => member) as unknown as yup.AnySchema })],
  ['conditional', (member) => yup.object({ v: yup.mixed().when([], () => member as yup.MixedSchema) })],
]

const resultOf = (schema: yup.AnySchema, value: unknown, location: Kind): unknown => {
  const result = compileValidator(schema, location).validate({ v: value })
  if (!(result instanceof Invalid)) return (result as { v: unknown }).v
  return result.issues.map(({ path, rule }) => `${path} ${rule}`).join()
}

const instant = (text: string) => new Date(text)

/** Sent value, result in a body, and result in a query where it differs. */
const ROWS: readonly (readonly [name: string, yup.AnySchema, readonly (readonly [unknown, unknown])[]])[] = [
  ['an integer', yup.number().integer(), [
    [9007199254740991, 9007199254740991], ['9007199254740991', 9007199254740991], ['-9007199254740991', -9007199254740991],
    [JSON.parse('9007199254740993'), 'v integer'], ['9007199254740993', 'v integer'], ['-9007199254740993', 'v integer'],
    [1e21, 'v integer'], ['12345678901234567890', 'v integer'], [1.5, 'v integer'], ['5', 5],
  ]],
  ['a date', yup.date(), [
    ['2024-02-29T12:00:00Z', instant('2024-02-29T12:00:00Z')], ['2024-02-29t12:00:00.123456z', instant('2024-02-29T12:00:00.123Z')],
    ['2024-12-31T23:59:59+02:30', instant('2024-12-31T21:29:59Z')], ['0001-01-31T00:00:00-00:00', instant('0001-01-31T00:00:00Z')],
    ...['2024-02-30T00:00:00Z', '2023-02-29T00:00:00Z', '2024-04-31T00:00:00Z', '2024-13-01T00:00:00Z', '2024-02-30', '2024-01-01', '5', '01/02/2024',
      '2024-01-01T00:00:00', '2024-01-01 00:00:00Z', '2024-01-01T24:00:00Z', '2024-01-01T00:00Z', '2024-01-01T00:00:00+24:00',
      '2024-01-01T23:59:60Z', 'Mon, 01 Jan 2024 00:00:00 GMT', '20240101T000000Z', '+002024-01-01T00:00:00Z', '', ' ',
    ].map((text) => [text, 'v type'] as const),
    [5, 'v type'], [0, 'v type'], [true, 'v type'], [instant('2024-01-01T00:00:00Z'), instant('2024-01-01T00:00:00Z')],
  ]],
  ['a UUID', yup.string().uuid(), [
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((version) => `0190b4ae-1b3c-${version}d6e-8a3b-2b1c3d4e5f60`).map((text) => [text, text] as const),
    ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '0190B4AE-1B3C-7D6E-AA3B-2B1C3D4E5F60'].map((text) => [text, text] as const),
    ...['0190b4ae-1b3c-9d6e-8a3b-2b1c3d4e5f60', '0190b4ae-1b3c-0d6e-8a3b-2b1c3d4e5f60', '0190b4ae-1b3c-7d6e-ca3b-2b1c3d4e5f60', '0190b4ae1b3c7d6e8a3b2b1c3d4e5f60', '{0190b4ae-1b3c-7d6e-8a3b-2b1c3d4e5f60}', 'ffffffff-ffff-ffff-ffff-fffffffffffe', ''].map((text) => [text, 'v uuid'] as const),
  ]],
] // prettier-ignore

describe('A value that JavaScript or yup would change or misread', () => {
  for (const [name, member, values] of ROWS)
    for (const [form, wrap] of FORMS)
      for (const location of ['body', 'query'] as const)
        it(`is an issue: ${name}, ${form}, in a ${location}`, () => {
          for (const [given, expected] of values) {
            if (location === 'query' && typeof given !== 'string') continue
            const result = resultOf(wrap(member), given, location)
            expect(result, `${typeof given} ${String(given)}`).to.deep.equal(expected)
          }
        })

  it('is accepted with a transform of its own', () => {
    const loose = yup.date().transform((value: unknown, sent: unknown) =>
      typeof sent === 'string' ? new Date(`${sent}T00:00:00Z`) : value,
    )
    expect(resultOf(yup.object({ v: loose }), '2024-01-01', 'body')).to.deep.equal(instant('2024-01-01T00:00:00Z'))
    expect(resultOf(yup.object({ v: loose }), '2024-13-01', 'body')).to.equal('v type')
  }) // prettier-ignore

  it('has a schema for a plain day, a sum of money, a large integer and an empty form field', () => {
    const isDay = (text?: string) =>
      text === undefined || (!Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text))
    const recipes = yup.object({
      day: yup.string().matches(/^\d{4}-\d{2}-\d{2}$/).test('day', isDay),
      price: yup.string().matches(/^\d{1,12}\.\d{2}$/),
      id: yup.string().matches(/^-?\d{1,18}$/),
      age: yup.number().integer().nullable().transform((value: unknown, sent: unknown) => (sent === '' ? null : value)),
    })
    const { validate } = compileValidator(recipes, 'body')
    const right = { day: '2024-02-29', price: '0.10', id: '900719925474099312' }
    expect(validate({ ...right, age: '' })).to.deep.equal({ ...right, age: null })
    expect(validate({ ...right, age: '7' })).to.deep.equal({ ...right, age: 7 })
    const wrong = validate({ day: '2024-02-30', price: '1.5', id: '1e3', age: ' ' }) as Invalid
    expect(wrong.issues.map(({ path, rule }) => `${path} ${rule}`)).to.have.members(['day day', 'price matches', 'id matches', 'age type'])
    expect(validate({ day: '2027-99-04' })).to.be.instanceOf(Invalid)
  }) // prettier-ignore

  it('keeps the message of the schema', () => {
    const issueOf = (member: yup.AnySchema, value: unknown) =>
      (compileValidator(yup.object({ v: member }), 'body').validate({ v: value }) as Invalid).issues[0]
        ?.message
    expect(issueOf(yup.number().integer('whole, please'), 1e21)).to.equal('whole, please')
    expect(issueOf(yup.string().uuid('an id, please'), 'x')).to.equal('an id, please')
    expect(issueOf(yup.date().typeError('a time, please'), '2024-02-30')).to.equal('a time, please')
  })

  it('may still be given to yup directly', () => {
    expect(yup.string().uuid().isValidSync('0190b4ae-1b3c-7d6e-8a3b-2b1c3d4e5f60')).to.equal(false)
    expect(yup.date().isValidSync('5')).to.equal(true)
  })
})
