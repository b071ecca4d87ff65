import { isThenable } from './thenable.ts'

/**
 * Describes the kind of a value for a message: `a promise`, `an empty array`. Never the value itself, which may be a
 * secret.
 */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (isThenable(value)) return 'a promise'
  if (isClass(value)) return 'a class'
  if (value instanceof Map) return 'a Map'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** True for a class, a function that cannot be called without `new`. */
export function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}

/** True for objects except arrays and functions. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for objects except arrays, functions and promises. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isThenable(value)
}
