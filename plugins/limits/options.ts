import type { Duration, LimitRule } from 'mortar'
import { checkOptions, parseLimit, type OptionChecks } from 'mortar/kit'
import { fault } from './startup-codes.ts'

/** The used part of an ioredis client. The application opens and closes it. */
export interface RedisClient {
  readonly status: string
  /** Connects a client with `lazyConnect`. */
  connect?(): Promise<unknown>
  defineCommand(name: string, definition: { numberOfKeys?: number; lua: string }): void
}

/** Options of `limits()`. */
export interface LimitsOptions<Rules extends string = string> {
  /**
   * Place of the counters: `'memory'` of each process (the default), or for all processes together in the
   * `'database'`, in `'redis'` (the service `redis`), or in an ioredis client of the application.
   */
  readonly store?: 'memory' | 'database' | 'redis' | RedisClient
  /**
   * Time without any response after which a shared store counts as down; `'1s'` by default. Limits then count in memory.
   */
  readonly timeout?: Duration
  /** Limits by name. All routes with `limit: 'name'` count together. */
  readonly rules?: Readonly<Record<Rules, LimitRule>>
}

const RULES: OptionChecks<LimitsOptions>['keys'] = {
  store: ['string', 'object'],
  timeout: 'timeout',
  rules: 'object',
}
const STORES = ['memory', 'database', 'redis']
const SUBJECTS = ['ip', 'user', 'credential']
/** The name is a part of the headers of responses. */
const NAME = /^[A-Za-z][\w-]{0,63}$/

/** @throws StartupError `MORTAR_LIMITS_OPTION`, or for an unknown option. */
export function checkLimitsOptions(options: LimitsOptions): void {
  checkOptions(options, { of: 'limits()', brick: 'limits', keys: RULES })
  const { store = 'memory', rules = {} } = options
  if (typeof store === 'string' && !STORES.includes(store))
    throw wrong(
      `has the unknown store '${store}'`,
      "Write 'memory', 'database', 'redis' or an ioredis client.",
    )
  if (typeof store === 'object' && typeof store?.defineCommand !== 'function')
    throw wrong('has a store that ioredis did not make', 'Write store: new Redis(…) from ioredis.')
  for (const [name, rule] of Object.entries(rules)) checkRule(name, rule)
}

function checkRule(name: string, rule: LimitRule): void {
  if (!NAME.test(name)) throw wrong(`has the rule name '${name}'`, 'Write letters, digits, _ and -.')
  if (typeof rule !== 'object' || rule === null)
    throw wrong(`has the rule '${name}', which is not an object`, EXAMPLE)
  checkOptions(rule, {
    of: `the rule '${name}' of limits()`,
    brick: 'limits',
    keys: { limit: 'anything', window: 'anything', by: 'anything' },
  })
  try {
    parseLimit(rule)
  } catch (error) {
    throw wrong(`has the rule '${name}', which ${(error as Error).message.slice(0, -1)}`, EXAMPLE)
  }
  if (typeof rule.by !== 'function' && !SUBJECTS.includes(rule.by))
    throw wrong(
      `has the rule '${name}' without a valid 'by'`,
      "Write 'ip', 'user', 'credential' or a function.",
    )
}

const EXAMPLE = "Write { limit: 30, window: '1m', by: 'ip' }."

function wrong(found: string, remedy: string): Error {
  return fault('MORTAR_LIMITS_OPTION', `limits() ${found}.`, { remedy })
}
