import { allowedValues, listTests, refusedValues, type YupNode, type YupTest } from '../../compat/yup.ts'
import { correctedTests } from '../../compat/yup-corrected.ts'

type Predicate = (value: never) => boolean

/** The tests of a schema as a range of lengths or numbers, and the other tests as predicates. */
export interface Limits {
  readonly least: number
  readonly most: number
  readonly rest: (value: unknown) => boolean
}

/** Splits the tests of a plain string or array schema: lengths as a range, the rest as one predicate. */
export function lengthLimits(schema: YupNode): Limits {
  return limitsOf(schema, (name, params) => {
    if (name === 'required' && params.regex === undefined) return [1, Infinity]
    if (name === 'length' && isNumber(params.length)) return [params.length, params.length]
    if (name === 'min' && isNumber(params.min)) return [params.min, Infinity]
    if (name === 'max' && isNumber(params.max)) return [-Infinity, params.max]
    return undefined
  })
}

/** Splits the tests of a plain number schema: inclusive, finite bounds as a range, the rest as one predicate. */
export function numberLimits(schema: YupNode): Limits {
  const { least, most, rest } = limitsOf(schema, (name, params) => {
    if (name === 'min' && isNumber(params.min)) return [params.min, Infinity]
    if (name === 'max' && isNumber(params.max)) return [-Infinity, params.max]
    return undefined
  })
  return { least: Math.max(least, -Number.MAX_VALUE), most: Math.min(most, Number.MAX_VALUE), rest }
}

/** All tests of a plain schema on a present value of its type, as one predicate. */
export function allTests(schema: YupNode): (value: unknown) => boolean {
  return every([
    ...listPredicates(schema),
    ...correctedTests(schema).map((test) => predicateOf(schema, test)),
  ])
}

type Range = readonly [number, number]
type RangeOf = (name: string | undefined, params: Readonly<Record<string, unknown>>) => Range | undefined

function limitsOf(schema: YupNode, rangeOf: RangeOf): Limits {
  const rest: Predicate[] = listPredicates(schema)
  let least = -Infinity
  let most = Infinity
  for (const test of correctedTests(schema)) {
    const range = rangeOf(test.OPTIONS.name, test.OPTIONS.params ?? {})
    if (range === undefined) rest.push(predicateOf(schema, test))
    else [least, most] = [Math.max(least, range[0]), Math.min(most, range[1])]
  }
  return { least, most, rest: every(rest) }
}

/** `oneOf` and `notOneOf`. */
function listPredicates(schema: YupNode): Predicate[] {
  const [allowed, refused, has] = [allowedValues(schema), refusedValues(schema), listTests(schema)]
  const predicates: Predicate[] = []
  if (has.allowed) predicates.push((value) => allowed.has(value))
  if (has.refused) predicates.push((value) => !refused.has(value))
  return predicates
}

function predicateOf(schema: YupNode, { OPTIONS }: YupTest): Predicate {
  const regex = OPTIONS.params?.regex
  if (regex instanceof RegExp && !regex.global && !regex.sticky) {
    const empty = OPTIONS.test.call(undefined, '', undefined) === true
    return (value: string) => (value === '' ? empty : regex.test(value))
  }
  if (OPTIONS.name === 'integer' && schema.type === 'number') return Number.isSafeInteger
  if (OPTIONS.name === 'string_case' || OPTIONS.name === 'trim') return OPTIONS.test as unknown as Predicate
  const context = { schema, resolve: (item: unknown) => item, createError: () => false }
  return (value) => OPTIONS.test.call(context, value, context) === true
}

function every(predicates: readonly Predicate[]): (value: unknown) => boolean {
  const [first, second] = predicates as readonly ((value: unknown) => boolean)[]
  if (first === undefined) return always
  if (second === undefined) return first
  if (predicates.length === 2) return (value) => first(value) && second(value)
  return (value) => predicates.every((predicate) => predicate(value as never))
}

/** The predicate of a schema without tests. */
export const always = (): boolean => true

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(value)
}
