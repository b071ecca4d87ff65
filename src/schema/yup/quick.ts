import { always, allTests, lengthLimits, numberLimits } from './passes.ts'
import type { YupNode } from '../../compat/yup.ts'
import type { Refer } from './generate.ts'

/**
 * A leaf schema as data. Objects and lists test most of their members by it in their own loop, because a call through
 * a closure costs as much as the test.
 */
export interface Quick {
  /** Type of the values that are decided here, or `none`. */
  readonly type: 'string' | 'number' | 'boolean' | 'none'
  /** Shortest and longest length of a string, smallest and largest number. */
  readonly least: number
  readonly most: number
  readonly rest: ((value: unknown) => boolean) | undefined
}

/**
 * Results of `judge`. They are small integers, because comparing values of any type costs more than the tests
 * themselves.
 */
export const OTHER = 0
export const SAME = 1
export const WRONG = 2
export type Verdict = typeof OTHER | typeof SAME | typeof WRONG

/** Leaf data that decides no value. */
export const NOT_QUICK: Quick = { type: 'none', least: 0, most: 0, rest: undefined }

/** Returns `SAME` for a valid, unchanged value, `WRONG` for an invalid one, and `OTHER` if `run` must decide. */
// oxlint-disable-next-line eslint/complexity -- one function without a call, as it runs for every member of a value
export function judge(quick: Quick, value: unknown): Verdict {
  if (typeof value === 'string') {
    if (quick.type !== 'string') return OTHER
    if (value.length < quick.least || value.length > quick.most) return WRONG
  } else if (typeof value === 'number') {
    if (quick.type !== 'number') return OTHER
    // NaN is outside every range, as it must be.
    if (!(value >= quick.least && value <= quick.most)) return WRONG
  } else if (typeof value !== 'boolean' || quick.type !== 'boolean') return OTHER
  return quick.rest === undefined || quick.rest(value) ? SAME : WRONG
}

/** Returns the data of a plain leaf schema; `changes` is true if its transforms change values of its own type. */
export function quickOf(schema: YupNode, changes: boolean): Quick {
  const { type } = schema
  if (changes || (type !== 'string' && type !== 'number' && type !== 'boolean')) return NOT_QUICK
  const limits = LIMITS[type](schema)
  const rest = limits.rest === always ? undefined : limits.rest
  return { type, least: limits.least, most: limits.most, rest }
}

const LIMITS = {
  string: lengthLimits,
  number: numberLimits,
  boolean: (schema: YupNode) => ({ least: -Infinity, most: Infinity, rest: allTests(schema) }),
}

const MOST_EXACT_DIGITS = 15

/** Reads a number of up to fifteen decimal digits, in a fifth of the time of a regular expression. */
export function readDigits(text: string): number | undefined {
  const { length } = text
  if (length === 0 || length > MOST_EXACT_DIGITS) return undefined
  let number = 0
  for (let index = 0; index < length; index++) {
    const digit = text.charCodeAt(index) - 48
    if (digit < 0 || digit > 9) return undefined
    number = number * 10 + digit
  }
  return number
}

/**
 * Returns the source text of the test in `judge`: true if the variable `name` has a valid, unchanged value of the type.
 */
export function quickSource({ type, least, most, rest }: Quick, name: string, refer: Refer): string {
  if (type === 'none') return 'false'
  const tests = [`typeof ${name} === '${type}'`]
  if (type === 'number') tests.push(`${name} >= ${bound(least, refer)} && ${name} <= ${bound(most, refer)}`)
  if (type === 'string' && least > 0) tests.push(`${name}.length >= ${refer(least)}`)
  if (type === 'string' && most < Infinity) tests.push(`${name}.length <= ${refer(most)}`)
  if (rest !== undefined) tests.push(`${refer(rest)}(${name})`)
  return tests.join(' && ')
}

/** The source of a bound; that of a number without one is a constant. */
function bound(value: number, refer: Refer): string {
  return Math.abs(value) === Number.MAX_VALUE ? String(value) : refer(value)
}
