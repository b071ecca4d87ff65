import { expect } from 'chai'
import * as yup from 'yup'
import * as entry from 'mortar/yup'

type Yup = Pick<typeof yup, 'string' | 'number' | 'boolean' | 'bool' | 'date'>

const SCHEMAS: readonly ((from: Yup) => yup.AnySchema)[] = [
  ({ string }) => string(),
  ({ string }) => string().nullable().trim().lowercase(),
  ({ string }) => string().required().min(2).max(3).label('Name'),
  ({ string }) => string().strict().oneOf(['a', 'b']),
  ({ string }) => string().withMutation((schema) => schema.nullable()),
  ({ number }) => number(),
  ({ number }) => number().required().integer().min(1),
  ({ number }) => number().default(3).typeError('not this'),
  ({ boolean }) => boolean(),
  ({ bool }) => bool().required().isTrue(),
  ({ date }) => date(),
  ({ date }) => date().min(new Date(0)).notRequired(),
]

const VALUES: readonly unknown[] = [
  undefined,
  null,
  '',
  'a',
  ' AB ',
  'long',
  '1',
  'true',
  '2026-01-01T00:00:00Z',
  1,
  1.5,
  Number.NaN,
  true,
  new Date(1),
  [],
  {},
]

describe('mortar/yup', () => {
  it('exports what yup exports', () => {
    expect(Object.keys(entry)).to.include.members(Object.keys(yup).filter((name) => name !== 'default'))
  })

  it('has the properties of the functions of yup, such as date.INVALID_DATE', () => {
    const [own, theirs] = [entry, yup].map(({ string, number, boolean, bool, date }) =>
      [string, number, boolean, bool, date].map((create) => ({ ...create })),
    )
    expect(own).to.deep.equal(theirs)
    expect(entry.date.INVALID_DATE).to.be.instanceOf(Date)
  })

  for (const make of SCHEMAS)
    it(`has the results and messages of yup: ${String(make)}`, () => {
      const [own, theirs] = [make(entry), make(yup)]
      expect(Object.getPrototypeOf(own)).to.equal(Object.getPrototypeOf(theirs))
      expect(own.describe()).to.deep.equal(theirs.describe())
      for (const value of VALUES) expect(outcomeOf(own, value)).to.deep.equal(outcomeOf(theirs, value))
    })

  it('begins every schema of a type with the same functions', () => {
    const { string, number, boolean, date } = entry
    for (const create of [string, number, boolean, date] as readonly (() => yup.Schema)[]) {
      const [first, second] = [create(), create()]
      expect(first).not.to.equal(second)
      expect(first.transforms).to.have.lengthOf(1)
      expect(first.transforms[0]).to.equal(second.transforms[0])
    }
  })

  it('keeps a change of one schema away from the next', () => {
    entry.string().withMutation((schema) => schema.required().max(1))
    expect(entry.string().isValidSync(undefined)).to.equal(true)
    expect(entry.string().isValidSync('long')).to.equal(true)
  })

  it('uses the messages of the last setLocale', () => {
    const mixed = { ...yup.defaultLocale.mixed }
    entry.number()
    yup.setLocale({ mixed: { notType: 'another type', notNull: 'no null' } })
    try {
      expect(outcomeOf(entry.number(), 'x')).to.deep.equal({ errors: ['another type'] })
      expect(outcomeOf(entry.number(), null)).to.deep.equal({ errors: ['no null'] })
    } finally {
      yup.setLocale({ mixed })
    }
    expect(outcomeOf(entry.number(), 'x')).to.deep.equal(outcomeOf(yup.number(), 'x'))
  })

  it('has the methods that addMethod adds to a function or to its class', () => {
    const prototype = yup.StringSchema.prototype as unknown as Record<string, unknown>
    yup.addMethod(entry.string, 'shout', function () {
      return this.uppercase()
    })
    try {
      const { shout } = yup.string() as unknown as { shout: unknown }
      expect(shout).to.be.a('function')
      expect((entry.string() as unknown as { shout: () => yup.Schema }).shout().cast('a')).to.equal('A')
    } finally {
      delete prototype['shout']
    }
  })
})

function outcomeOf(schema: yup.AnySchema, value: unknown): object {
  try {
    return { value: schema.validateSync(value, { abortEarly: false }) as unknown }
  } catch (error) {
    return error instanceof yup.ValidationError ? { errors: error.errors } : { thrown: String(error) }
  }
}
