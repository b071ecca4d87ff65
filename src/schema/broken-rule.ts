import type { IssueParam } from '../errors/http-error.ts'
import type { BrokenRule } from './invalid.ts'

/** Rule of a test without a name. */
export const CUSTOM = 'custom'

/** Longest list of allowed values in the parameters of an issue. A response has up to twenty issues. */
const MOST_VALUES = 50
const LONGEST_TEXT = 200

/**
 * Makes the rule of an issue. Only constants that JSON can express become parameters, so a reference to another field,
 * whose value may be secret, does not.
 */
export function brokenRule(rule: string, params: Readonly<Record<string, unknown>> = {}): BrokenRule {
  const shown = Object.entries(params)
    .map(([name, value]) => [name, constant(value)] as const)
    .filter((entry): entry is readonly [string, IssueParam] => entry[1] !== undefined)
  return shown.length === 0 ? { rule } : { rule, params: Object.fromEntries(shown) }
}

function constant(value: unknown): IssueParam | undefined {
  if (!Array.isArray(value)) return scalar(value)
  const values = value.map(scalar)
  const isShown = values.length > 0 && values.length <= MOST_VALUES && !values.includes(undefined)
  return isShown ? (values as readonly (string | number | boolean | null)[]) : undefined
}

function scalar(value: unknown): string | number | boolean | null | undefined {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'bigint') return String(value)
  if (value instanceof RegExp) return scalar(value.source)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString()
  return typeof value === 'string' && value.length <= LONGEST_TEXT ? value : undefined
}
