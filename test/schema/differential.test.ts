import { strictEqual } from 'node:assert'
import { expect } from 'chai'
import { ValidationError, type Schema } from 'yup'
import { compileYup } from '../../src/schema/yup/compile-yup.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import { coerceText } from '../../src/schema/yup/query-coercion.ts'
import type { Validate } from '../../src/schema/validate.ts'
import { correctedTests, correctedTransforms } from '../../src/compat/yup-corrected.ts'
import { withoutInheritedKeys } from '../../src/schema/yup/shape-guard.ts'
import { shapeOfYup } from '../../src/schema/text-shape.ts'
import { validateByYup } from '../../src/schema/yup/validate-yup.ts'
import type { YupNode } from '../../src/compat/yup.ts'
import { Random } from './support/random.ts'
import { KINDS, randomSchema } from './support/random-schema.ts'
import { ENDLESS, queryFor, valueFor } from './support/random-value.ts'
import { casesOf, seedFor } from '../support/seed.ts'

/** Inputs of each kind. */
const CASES = casesOf(1_000)
const SEED = seedFor('schema differential')
const INPUTS_PER_SCHEMA = 20
const EVERY_ISSUE = 100_000

type Parts = { -readonly [Key in keyof YupNode]: YupNode[Key] }

const oracles = new WeakMap<Schema, Schema>()

/** The schema with the corrected rules of `src/compat/yup-corrected.ts`; in all others, yup is right. */
function oracleOf(schema: Schema): Schema {
  const known = oracles.get(schema)
  if (known !== undefined) return known
  const copy = schema.clone() as Schema & Parts
  const parts: Parts = copy
  parts.tests = [...correctedTests(parts)]
  parts.transforms = [...correctedTransforms(parts)]
  const part = (one: unknown): unknown => oracleOf(one as Schema)
  for (const [key, field] of Object.entries(parts.fields ?? {}))
    Object.defineProperty(parts.fields, key, { value: part(field), enumerable: true, writable: true })
  if (parts.innerType !== undefined) parts.innerType = part(parts.innerType) as YupNode
  if (Array.isArray(parts.spec.types)) parts.spec = { ...parts.spec, types: parts.spec.types.map(part) }
  oracles.set(schema, copy)
  return copy
}

type Outcome =
  { readonly value: unknown } | { readonly issues: readonly string[] } | { readonly thrown: unknown }

function byYup(schema: Schema, value: unknown): Outcome {
  try {
    return { value: oracleOf(schema).validateSync(value, { abortEarly: false }) as unknown }
  } catch (error) {
    if (!(error instanceof ValidationError)) return { thrown: error }
    const all = withoutItems(error.inner.length > 0 ? error.inner : [error])
    return { issues: all.map((one) => `${one.path ?? ''}: ${one.message}`).toSorted() }
  }
}

/** Without the issues inside arrays that fail a test of their own: the items of these are not validated. */
function withoutItems(errors: readonly ValidationError[]): readonly ValidationError[] {
  const refused = errors
    .filter(
      ({ type, value }) =>
        Array.isArray(value) && ['min', 'max', 'length', 'oneOf', 'notOneOf'].includes(type ?? ''),
    )
    .map(({ path = '' }) => `${path}[`)
  return errors.filter(({ path = '' }) => !refused.some((start) => path.startsWith(start)))
}

function outcomeOf(result: unknown): Outcome {
  if (!(result instanceof Invalid)) return { value: result }
  return { issues: result.issues.map((issue) => `${issue.path}: ${issue.message}`).toSorted() }
}

/** Wording without the quoted value, where the two see differently escaped or differently guarded values. */
const unquoted = (issue: string): string => issue.replace(/`[^]*$/, '')

interface Comparison {
  readonly schema: Schema
  readonly run: Validate
  readonly given: unknown
  /** The value that yup receives instead of `given`. */
  readonly seen?: unknown
}

/** Compares one input. If yup crashes, there is no result to compare, but the input must not crash here. */
function compare(comparison: Comparison): void {
  const { schema, run, given } = comparison
  const before = structuredCloneOr(given)
  const ours = outcomeOf(run(given, EVERY_ISSUE))
  expect(structuredCloneOr(given), 'the input stays as it is').to.deep.equal(before)
  const theirs = byYup(schema, 'seen' in comparison ? comparison.seen : given)
  if ('thrown' in theirs) return
  if (!('issues' in theirs) || !('issues' in ours))
    expect(withOneZero(ours)).to.deep.equal(withOneZero(theirs))
  else if ('seen' in comparison)
    strictEqual(ours.issues.map(unquoted).join('\n'), theirs.issues.map(unquoted).join('\n'))
  else strictEqual(ours.issues.join('\n'), theirs.issues.join('\n'))
  if ('value' in theirs && theirs.value === given)
    expect('value' in ours && ours.value === given).to.equal(true)
}

/** yup keeps -0 in a list or not, depending on the list's other items; both are the same number and the same JSON. */
function withOneZero(value: unknown): unknown {
  if (Object.is(value, -0)) return 0
  if (Array.isArray(value)) return value.map(withOneZero)
  const isPlain =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  if (!isPlain) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withOneZero(member)]))
}

function structuredCloneOr(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return undefined
  }
}

function each(kind: string, check: (schema: Schema, node: YupNode, random: Random) => void): void {
  for (let index = 0; index < CASES / INPUTS_PER_SCHEMA; index++) {
    const seed = SEED + index * 7_919 + KINDS.indexOf(kind as 'mixed')
    const random = new Random(seed)
    const schema = randomSchema(kind, random) as Schema
    try {
      for (let input = 0; input < INPUTS_PER_SCHEMA; input++)
        check(schema, schema as unknown as YupNode, random)
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
    }
  }
}

describe('A compiled yup schema', function () {
  this.timeout(180_000 + CASES * 10)

  for (const kind of KINDS)
    it(`returns the result of yup for a random ${kind} schema, or the same issues`, () => {
      each(kind, (schema, node, random) => {
        const run = compileYup(node, false)
        expect(run, 'the schema is compiled').to.be.a('function')
        const value = valueFor(node, random, false)
        compare({ schema, run: run!, given: value })
      })
    })

  it('returns the result of yup without the keys that every object inherits', () => {
    each('object', (schema, node, random) => {
      const value = valueFor(node, random, true)
      compare({
        schema,
        run: compileYup(node, false)!,
        given: value,
        seen: withoutInheritedKeys(node, value),
      })
    })
  })

  it('returns for query text the result of yup for the coerced text', () => {
    each('object', (schema, node, random) => {
      // A query has no objects within; the default of one would be taken for text.
      if (JSON.stringify(schema.describe()).split('"type":"object"').length > 2) return
      const value = queryFor(node, random)
      compare({
        schema,
        run: compileYup(node, true)!,
        given: value,
        seen: coerceText(shapeOfYup(node), value),
      })
    })
  })
})

/** The value with endless numbers in the place of some leaves. */
function withEndless(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((item) => withEndless(item, random))
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, withEndless(member, random)]),
    )
  return random.chance(0.5) ? random.pick(ENDLESS) : value
}

describe('A yup schema that is not compiled', () => {
  it('reads infinite numbers as a compiled schema does', () => {
    for (const kind of KINDS)
      each(kind, (_schema, node, random) => {
        const value = withEndless(valueFor(node, random, false), random)
        const ours = outcomeOf(compileYup(node, false)!(value, EVERY_ISSUE))
        const slow = outcomeOf(validateByYup(node)(value, EVERY_ISSUE))
        // yup throws at some casts, and then there is one issue alone.
        if (!JSON.stringify(slow).includes('cannot be read')) expect(ours).to.deep.equal(slow)
      })
  }).timeout(180_000 + CASES * 10)

  it('returns the result of yup', () => {
    for (const kind of KINDS)
      each(kind, (schema, node, random) => {
        const value = valueFor(node, random, false)
        compare({ schema, run: validateByYup(node), given: value })
      })
  }).timeout(180_000 + CASES * 10)
})
