import type * as Yup from 'yup'
import { loadYup } from '../support/lazy-packages.ts'
import { once, oncePerObject } from '../support/once.ts'
import { boundedOptions, boundedSchema } from './yup-bounds.ts'
import { isKnownCode } from './yup-functions.ts'
import {
  allowedValues,
  builderOf,
  castOptions,
  firstTests,
  hasPrivate,
  isConditional,
  isOfType,
  isRef,
  isYup,
  listTests,
  memberSchemas,
  refusedValues,
  validateByPrivate,
  type YupIssue,
  type YupNode,
} from './yup.ts'

/** A property of yup that `yup.ts` lists, and its check. */
type Check = readonly [what: string, holds: (yup: typeof Yup) => boolean]

const CHECKS: readonly Check[] = [
  [
    'the values of oneOf() and notOneOf()',
    ({ string }) =>
      hasPrivate(node(string()), '_whitelist') &&
      allowedValues(node(string().oneOf(['a']))).has('a') &&
      hasPrivate(node(string()), '_blacklist') &&
      refusedValues(node(string().notOneOf(['b']))).has('b'),
  ],
  [
    'the tests that run first',
    ({ string }) => {
      const schema = node(string().oneOf(['a']))
      const areTests = firstTests(schema).every(({ OPTIONS }) => typeof OPTIONS.test === 'function')
      return listTests(schema).allowed && !listTests(schema).refused && areTests
    },
  ],
  [
    'the conditions of when()',
    ({ string }) =>
      !isConditional(node(string())) && isConditional(node(string().when('x', (_, schema) => schema))),
  ],
  [
    'the check of a type',
    ({ number }) =>
      hasPrivate(node(number()), '_typeCheck') &&
      isOfType(node(number()), 1) &&
      !isOfType(node(number()), 'a'),
  ],
  [
    'the function of lazy()',
    ({ lazy, string }) => {
      const schema = node(lazy(() => string()))
      return builderOf(schema)?.(1) !== undefined && hasPrivate(schema, '_resolve')
    },
  ],
  ['references', ({ ref, string }) => isRef(ref('x')) && !isRef(string())],
  [
    'the cast of strict members',
    ({ object, string }) => {
      const schema = node(object({ a: string().strict() }))
      return (schema.cast({ a: 1 }, castOptions(schema)) as { readonly a: unknown }).a === 1
    },
  ],
  ['the source text of tests', hasSteadyTests],
  ['the validation without exceptions', stopsInTime],
  [
    'the validation of members',
    ({ object, string }) => errorsOf(object({ constructor: string() }).strict(), {})?.length === 0,
  ],
]

const yupFault = once(() => findYupFault(loadYup()))

/**
 * True if the code of a schema and of its members is known: Mortar's copy of yup has all properties of `yup.ts`, and
 * other copies are equal to it. Otherwise the schema is validated by yup itself, and the process warns once.
 */
export const isKnownYup = oncePerObject((schema: YupNode): boolean => {
  const fault = yupFault()
  if (fault !== undefined) warn(`This version of yup differs from 1.7 in ${fault}.`)
  else if (isKnownThroughout(schema)) return true
  else warn(OTHER_VERSION)
  return false
})

/**
 * Returns a schema with the corrected rules for a version of yup whose code is unknown; the schema itself if its copies
 * do not work.
 */
export function correctedSchema(schema: YupNode): YupNode {
  return canCorrect() ? boundedSchema(schema) : schema
}

const canCorrect = once(() => withoutThrowing(() => correctsRules(loadYup())))

function correctsRules({ array, date, number, object, string }: typeof Yup): boolean {
  const item = object({ id: string().uuid(), at: date(), n: number().integer() })
  const copy = boundedSchema(node(object({ list: array(item) }))) as unknown as Yup.ObjectSchema<object>
  const accepts = (value: object): boolean => copy.isValidSync({ list: [value] })
  const good = { id: '0190a1b2-3c4d-7e5f-8a6b-0123456789ab', at: '2026-10-25T01:30:00Z', n: 1 }
  return accepts(good) && !accepts({ at: '5' }) && !accepts({ n: 2 ** 53 })
}

const OTHER_VERSION =
  "A schema was made by another version of yup than Mortar's. Import yup from 'mortar/yup', or install the same version."

let hasWarned = false

function warn(finding: string): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(
    `${finding} yup itself validates such schemas, which takes up to a hundred times longer${canCorrect() ? '' : ', by its own rules of dates, UUIDs and integers'}.`,
    {
      code: 'YUP_DIFFERS',
    },
  )
}

function isKnownThroughout(schema: unknown): boolean {
  return !isYup(schema) || (isKnownCode(schema) && memberSchemas(schema).every(isKnownThroughout))
}

/** Finds the first property that a copy of yup lacks. */
export function findYupFault(yup: typeof Yup): string | undefined {
  return CHECKS.find(([, holds]) => !withoutThrowing(() => holds(yup)))?.[0]
}

function withoutThrowing(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}

function node(schema: unknown): YupNode {
  return schema as YupNode
}

function hasSteadyTests({ string }: typeof Yup): boolean {
  const [first, second] = [string().min(1), string().min(2)].map((schema) => node(schema).tests[0]!.OPTIONS)
  return first!.name === 'min' && first!.params?.['min'] === 1 && String(first!.test) === String(second!.test)
}

/** True if a validation of three invalid items stops after two issues. */
function stopsInTime({ array, object, string, lazy }: typeof Yup): boolean {
  const item = object({ a: string().required() })
  return [object({ list: array(item) }), object({ list: lazy(() => array(item)) })].every((schema) => {
    const errors = errorsOf(schema, { list: [{}, {}, {}] })
    return errors?.length === 2 && errors[0]?.path === 'list[0].a'
  })
}

function errorsOf(schema: unknown, value: object): readonly YupIssue[] | undefined {
  let errors: readonly YupIssue[] | undefined
  const options = { ...boundedOptions(2), abortEarly: false, disableStackTrace: true }
  validateByPrivate(boundedSchema(node(schema)).resolve({}), value, options, {
    panic: () => undefined,
    next: (found) => (errors = found),
  })
  return errors
}
