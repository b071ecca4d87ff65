import { checkOptions, type OptionChecks } from 'mortar/kit'
import { fault } from './startup-codes.ts'

/** Options of `counter()`. */
export interface CounterOptions {
  /** Highest value of the counter; 100 by default. */
  readonly limit?: number
  /** Path of its endpoints; `/counter` by default. */
  readonly prefix?: string
}

const CHECKS: OptionChecks<CounterOptions> = {
  of: 'counter()',
  brick: 'counter',
  keys: { limit: 'number', prefix: 'string' },
}

/**
 * The options with their defaults.
 * @throws StartupError for an unknown key or a value of another type, and `COUNTER_LIMIT`.
 */
export function readOptions(options: CounterOptions): Required<CounterOptions> {
  checkOptions(options, CHECKS)
  const { limit = 100, prefix = '/counter' } = options
  if (!Number.isInteger(limit) || limit < 1) throw fault('COUNTER_LIMIT', `counter({ limit }) is ${limit}.`)
  return { limit, prefix }
}
