import type * as Yup from 'yup'
import { loadYup } from '../support/lazy-packages.ts'
import { boundedOptions, boundedSchema } from './yup-bounds.ts'
import {
  allowedValues,
  builderOf,
  firstTests,
  isConditional,
  isOfType,
  isRef,
  listTests,
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
      allowedValues(node(string().oneOf(['a']))).has('a') &&
      refusedValues(node(string().notOneOf(['b']))).has('b'),
  ],
  [
    'the tests that run first',
    ({ string }) => {
      const schema = node(string().oneOf(['a']))
      return listTests(schema).allowed && !listTests(schema).refused && firstTests(schema).every(isTest)
    },
  ],
  [
    'the conditions of when()',
    ({ string }) =>
      !isConditional(node(string())) && isConditional(node(string().when('x', (_, schema) => schema))),
  ],
  ['the check of a type', ({ number }) => isOfType(node(number()), 1) && !isOfType(node(number()), 'a')],
  ['the function of lazy()', ({ lazy, string }) => builderOf(node(lazy(() => string())))?.(1) !== undefined],
  ['references', ({ ref, string }) => isRef(ref('x')) && !isRef(string())],
  ['the source text of tests', hasSteadyTests],
  ['the validation without exceptions', stopsInTime],
  [
    'the validation of members',
    ({ object, string }) => errorsOf(object({ constructor: string() }).strict(), {})?.length === 0,
  ],
]

let fault: { readonly found: string | undefined } | undefined

/**
 * Returns the first property that this copy of yup lacks; undefined if it has all of them. The check runs once, at the
 * first schema. A fault causes a process warning, and schemas are then validated by yup itself.
 */
export function yupFault(): string | undefined {
  if (fault !== undefined) return fault.found
  fault = { found: findYupFault(loadYup()) }
  if (fault.found !== undefined)
    process.emitWarning(
      `This version of yup differs from 1.7 in ${fault.found}. Schemas use the validation of yup itself, which takes a hundred times longer.`,
      { code: 'YUP_DIFFERS' },
    )
  return fault.found
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

function isTest({ OPTIONS }: YupNode['tests'][number]): boolean {
  return typeof OPTIONS.test === 'function'
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
