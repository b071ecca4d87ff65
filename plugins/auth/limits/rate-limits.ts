import { createHmac } from 'node:crypto'
import { systemClock, TooManyRequests, type Clock, type EventBus } from '../../../src/index.ts'
import { clientNetwork, clientSite } from './client-network.ts'
import type { AuthEvents } from '../events/events.ts'
import { createLimitCounter, type LimitCounter, type RedisClient } from './limit-counter.ts'
import type { Count } from './memory-counter.ts'
import {
  resolveLimits,
  type CountedLimit,
  type LimitOptions,
  type LimitRule,
  type LimitScope,
} from './limit-rules.ts'

export type { LimitOptions, LimitRule, LimitScope, RedisClient }

/** The subject of an attempt. `email` in canonical form. A rule needs the fields that it counts by. */
export interface LimitSubject {
  readonly ip: string
  readonly email?: string
  readonly user?: string
  readonly session?: string
  /** Identifier of a verified device cookie for `email`. */
  readonly device?: string
}

/** State of the limits after an allowed attempt. */
export interface LimitState {
  /**
   * `RateLimit` and `RateLimit-Policy` for the response (draft-ietf-httpapi-ratelimit-headers). Limits by address are
   * omitted, because they would reveal the remaining tries of an account.
   */
  readonly headers: Readonly<Record<string, string>>
}

/** 429 of an authentication endpoint, with the exceeded limit and the time to wait. */
export class LimitReached extends TooManyRequests {
  readonly rule: LimitRule
  readonly scope: LimitScope

  constructor(limit: CountedLimit, resetIn: number) {
    super(resetIn / 1000, 'Too many attempts. Try again later.', {
      code: 'too_many_requests',
      instance: false,
      headers: headersOf([[limit, { remaining: 0, resetIn }]]),
    })
    this.rule = limit.rule
    this.scope = limit.scope
  }
}

/** Limits of the authentication endpoints. */
export interface RateLimits {
  /**
   * Counts one attempt. Call it before any work, and before the password is read.
   * @throws LimitReached (429, with `Retry-After`, `RateLimit` and `RateLimit-Policy`) beyond a limit.
   */
  attempt(rule: LimitRule, subject: LimitSubject): Promise<LimitState>
  /** Resets the counts of the address or user after a success. Tries of an IP stay counted. */
  success(rule: LimitRule, subject: LimitSubject): Promise<void>
  /** Subtracts an attempt that the server could not process. `except` names scopes that stay counted. */
  giveBack(rule: LimitRule, subject: LimitSubject, except?: readonly LimitScope[]): Promise<void>
}

/** Settings of `createRateLimits`. */
export interface RateLimitsOptions {
  /** Changes to the limits; `false` switches all of them off. */
  readonly limits?: LimitOptions | false
  /** Counts for all processes together; otherwise each counts in its own memory. */
  readonly redis?: RedisClient
  readonly clock?: Clock
  /** HMAC key that replaces addresses and IPs in the counters. */
  readonly key: Buffer
  /** Logs when Redis fails and when it works again. */
  readonly events?: EventBus<AuthEvents>
  /** Maximum keys per limit with their own counter in memory. */
  readonly capacity?: number
}

/** Scopes that count failures only and are reset by a success. */
const FAILURES: ReadonlySet<string> = new Set([
  'login.address',
  'login.pair',
  'login.device',
  'changePassword.user',
])
const PRIVATE_SCOPES: ReadonlySet<LimitScope> = new Set(['address', 'pair', 'device', 'site'])
/** Scopes that strangers can use up; attempts with a device cookie do not count there. */
const STRANGERS_SCOPES: ReadonlySet<LimitScope> = new Set(['address', 'pair'])

/**
 * Creates limits that are the same for addresses with and without an account, in every environment.
 * @throws StartupError `MORTAR_AUTH_LIMIT` for settings that limit nothing.
 */
export function createRateLimits(options: RateLimitsOptions): RateLimits {
  const { key, clock = systemClock, capacity, redis } = options
  const onRedis = watch(options.events)
  const shared = redis && { redis, onRedis }
  const counters = resolveLimits(options.limits).map((limit) =>
    createLimitCounter({ limit, clock, ...shared, ...(capacity !== undefined && { capacity }) }),
  )
  const applying = (rule: LimitRule, subject: LimitSubject): LimitCounter[] => {
    const ofRule = counters.filter(({ limit }) => limit.rule === rule)
    const hasDevice = subject.device !== undefined && ofRule.some(({ limit }) => limit.scope === 'device')
    return ofRule.filter(({ limit: { scope } }) => {
      if (scope === 'site') return clientSite(subject.ip) !== undefined
      return scope === 'device' ? hasDevice : !(hasDevice && STRANGERS_SCOPES.has(scope))
    })
  }

  return {
    async attempt(rule, subject) {
      const visible: [CountedLimit, Count][] = []
      for (const { limit, count } of applying(rule, subject)) {
        const state = await count(keyOf(key, limit, subject))
        if (!state.allowed) throw new LimitReached(limit, state.resetIn)
        if (!PRIVATE_SCOPES.has(limit.scope)) visible.push([limit, state])
      }
      return { headers: headersOf(visible) }
    },
    async success(rule, subject) {
      for (const { limit, clear } of applying(rule, subject))
        if (FAILURES.has(`${limit.rule}.${limit.scope}`)) await clear(keyOf(key, limit, subject))
    },
    async giveBack(rule, subject, except = []) {
      for (const { limit, giveBack } of applying(rule, subject))
        if (!except.includes(limit.scope)) await giveBack(keyOf(key, limit, subject))
    },
  }
}

/**
 * Logs once that Redis fails, and once that it works again. Only the error's name is logged: its message may contain an
 * address.
 */
function watch(events: EventBus<AuthEvents> | undefined): (error?: unknown) => void {
  let degraded = false
  return (error) => {
    const fails = error !== undefined
    if (fails === degraded) return
    degraded = fails
    if (fails) events?.emit('auth.limits.degraded', { error: error instanceof Error ? error.name : 'Error' })
    else events?.emit('auth.limits.restored', {})
  }
}

/** The counters contain addresses and IPs only as HMACs of fixed length. */
function keyOf(key: Buffer, { rule, scope }: CountedLimit, subject: LimitSubject): string {
  const text = JSON.stringify([rule, scope, ...partsOf(rule, scope, subject)])
  return createHmac('sha256', key).update(text).digest('base64url')
}

function partsOf(
  rule: LimitRule,
  scope: LimitScope,
  { ip, email, user, session, device }: LimitSubject,
): (string | undefined)[] {
  switch (scope) {
    case 'ip':
      return [clientNetwork(ip)]
    case 'site':
      return [clientSite(ip)]
    case 'device':
      // Mails are counted for all devices of an address together, because each login makes another cookie.
      return rule === 'forgot' ? [email] : [email, device]
    case 'address':
      return [email]
    case 'pair':
      return [email, clientNetwork(ip)]
    case 'session':
      return [session]
    case 'user':
      return [user]
  }
}

/**
 * Structured fields (RFC 9651): a quoted policy name with quota and window, then the remaining attempts and the seconds
 * until the reset.
 */
function headersOf(
  limits: readonly (readonly [CountedLimit, Omit<Count, 'allowed'>])[],
): Record<string, string> {
  if (limits.length === 0) return {}
  const policy = limits.map(([{ rule, scope, limit, window }]) => `"${rule}-${scope}";q=${limit};w=${window}`)
  const state = limits.map(
    ([{ rule, scope }, { remaining, resetIn }]) =>
      `"${rule}-${scope}";r=${remaining};t=${Math.max(1, Math.ceil(resetIn / 1000))}`,
  )
  return { 'RateLimit-Policy': policy.join(', '), RateLimit: state.join(', ') }
}
