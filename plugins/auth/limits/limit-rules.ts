import type { StartupError, Limit } from 'mortar'
import { parseLimit } from 'mortar/kit'
import { fault } from '../startup-codes.ts'

export type { Limit }

/**
 * Key that a limit counts by. `site` is the /48 of an IPv6 address, `pair` an address from one network, `device` a
 * browser with a device cookie for the address, `devices` all of them together.
 */
export type LimitScope = 'ip' | 'site' | 'pair' | 'address' | 'device' | 'devices' | 'session' | 'user'

/**
 * Default limits. `login` by address, pair and device, `changePassword` and `code` count failures only. An attempt with a
 * device cookie counts by `device` and `devices` instead of `pair` and `address`, which strangers can use up.
 */
export const DEFAULT_LIMITS = {
  login: {
    ip: { limit: 30, window: '1m' },
    site: { limit: 300, window: '1m' },
    // Before the address, so that tries of a network beyond its own budget do not count for the address.
    pair: { limit: 10, window: '15m' },
    address: { limit: 100, window: '15m' },
    device: { limit: 10, window: '15m' },
    // Each login makes another cookie, so whoever once knew the password may have any number of them.
    devices: { limit: 100, window: '15m' },
  },
  signup: {
    ip: { limit: 20, window: '1m' },
    site: { limit: 200, window: '1m' },
    address: { limit: 5, window: '1h' },
  },
  forgot: {
    ip: { limit: 20, window: '1m' },
    site: { limit: 200, window: '1m' },
    address: { limit: 5, window: '15m' },
    device: { limit: 5, window: '15m' },
  },
  reset: { ip: { limit: 20, window: '1m' }, site: { limit: 200, window: '1m' } },
  refresh: { session: { limit: 60, window: '1m' } },
  changePassword: { user: { limit: 5, window: '15m' } },
  sessions: { user: { limit: 60, window: '1m' } },
  verify: { ip: { limit: 20, window: '1m' }, site: { limit: 200, window: '1m' } },
  verifyMail: {
    ip: { limit: 20, window: '1m' },
    site: { limit: 200, window: '1m' },
    address: { limit: 5, window: '1h' },
  },
  changeEmail: { user: { limit: 5, window: '1h' }, address: { limit: 5, window: '1h' } },
  factor: { ip: { limit: 30, window: '1m' }, site: { limit: 300, window: '1m' } },
  // Ten tries an hour, with three valid codes of a million, take 35 days for a chance of 2.5 %.
  code: { user: { limit: 10, window: '1h' } },
  totp: { user: { limit: 20, window: '15m' } },
  social: { ip: { limit: 60, window: '1m' }, site: { limit: 600, window: '1m' } },
  account: { user: { limit: 10, window: '1h' } },
  ticket: { user: { limit: 60, window: '1m' } },
  passkey: { ip: { limit: 60, window: '1m' }, site: { limit: 600, window: '1m' } },
  ownPasskeys: { user: { limit: 20, window: '15m' } },
} as const satisfies Readonly<Record<string, Partial<Record<LimitScope, Limit>>>>

/** Limited endpoints. */
export type LimitRule = keyof typeof DEFAULT_LIMITS

/** Changes to the limits: other numbers, or `false` to switch off a limit or a whole rule. */
export type LimitOptions = {
  readonly [Rule in LimitRule]?:
    false | { readonly [Scope in keyof (typeof DEFAULT_LIMITS)[Rule]]?: false | Limit }
}

/** One limit with resolved values. */
export interface CountedLimit {
  readonly rule: LimitRule
  readonly scope: LimitScope
  readonly limit: number
  /** Seconds. */
  readonly window: number
}

const EXAMPLE = "{ limit: 30, window: '1m' }"

/**
 * Returns the active limits of each rule in the order of counting.
 * @throws StartupError `MORTAR_AUTH_LIMIT` for an unknown rule or scope and for numbers that would limit nothing.
 */
export function resolveLimits(options: LimitOptions | false = {}): readonly CountedLimit[] {
  if (options === false) return []
  refuseUnknown(options, DEFAULT_LIMITS, 'limits')
  return (Object.keys(DEFAULT_LIMITS) as LimitRule[]).flatMap((rule) => limitsOf(rule, options[rule]))
}

/** Number of valid reset tokens if requests for a reset are not limited. */
const LEAST_RESET_TOKENS = 32

/**
 * Returns the number of reset tokens of one address that are valid at the same time: as many as the limits allow during
 * a token's lifetime, so that a stranger's request never ends the owner's link. `lifetime` in seconds.
 */
export function mostResetTokens(options: LimitOptions | false | undefined, lifetime: number): number {
  const perAddress = resolveLimits(options).filter(
    ({ rule, scope }) => rule === 'forgot' && (scope === 'address' || scope === 'device'),
  )
  const issued = perAddress.map(({ limit, window }) => limit * (Math.ceil(lifetime / window) + 1))
  return Math.max(
    LEAST_RESET_TOKENS,
    issued.reduce((sum, each) => sum + each, 0),
  )
}

function limitsOf(rule: LimitRule, changes: LimitOptions[LimitRule] = {}): CountedLimit[] {
  if (changes === false) return []
  const scopes: Partial<Record<LimitScope, Limit>> = DEFAULT_LIMITS[rule]
  refuseUnknown(changes, scopes, `limits.${rule}`)
  const chosen: Partial<Record<LimitScope, Limit | false>> = { ...scopes, ...changes }
  return (Object.keys(scopes) as LimitScope[]).flatMap((scope) => {
    const limit = chosen[scope] ?? scopes[scope]!
    return limit === false ? [] : [checked(rule, scope, limit)]
  })
}

function checked(rule: LimitRule, scope: LimitScope, given: Limit): CountedLimit {
  try {
    return { rule, scope, ...parseLimit(given) }
  } catch (error) {
    throw wrong(
      `limits.${rule}.${scope} ${(error as Error).message}`,
      `Write ${EXAMPLE}, or false to switch it off.`,
    )
  }
}

function refuseUnknown(given: unknown, known: object, where: string): void {
  if (typeof given !== 'object' || given === null)
    throw wrong(
      `${where} is neither an object nor false.`,
      `Write an object with ${Object.keys(known).join(', ')}.`,
    )
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined)
    throw wrong(`${where} has no '${unknown}'.`, `Use ${Object.keys(known).join(', ')}.`)
}

function wrong(found: string, remedy: string): StartupError {
  return fault('MORTAR_AUTH_LIMIT', found, { remedy })
}
