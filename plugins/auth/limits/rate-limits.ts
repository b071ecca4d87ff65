import { createHmac } from 'node:crypto'
import { TooManyRequests, type Cradle, type DeclaredLimit, type KnownClient, type Limiter } from 'mortar'
import {
  clientNetwork,
  clientSite,
  limitHeaders,
  optionalService,
  type LimitState as CountedState,
} from 'mortar/kit'
import { canonicalEmail } from '../accounts/canonical-email.ts'
import {
  resolveLimits,
  type CountedLimit,
  type LimitOptions,
  type LimitRule,
  type LimitScope,
} from './limit-rules.ts'

export type { LimitOptions, LimitRule, LimitScope }

/** The subject of an attempt. `email` in canonical form. A rule needs the fields that it counts by. */
export interface LimitSubject {
  readonly ip: string
  readonly email?: string
  readonly user?: string
  readonly session?: string
  /** Identifier of a verified device cookie for `email`. */
  readonly device?: string | undefined
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

  constructor(limit: CountedLimit, resetIn: number, advice = '') {
    super(resetIn / 1000, `Too many attempts. Try again later.${advice}`, {
      code: 'too_many_requests',
      instance: false,
      headers: limitHeaders([stateOf(limit, { remaining: 0, resetIn })]),
    })
    this.rule = limit.rule
    this.scope = limit.scope
  }
}

/** Limits of the authentication endpoints. */
export type RateLimits = ReturnType<typeof createRateLimits>

/** Settings of `createRateLimits`. */
export interface RateLimitsOptions {
  /** Counts: the service `limiter`, or a limiter in memory. */
  readonly limiter: Limiter
  /** Changes to the limits; `false` switches all of them off. */
  readonly limits?: LimitOptions | false
  /** HMAC key that replaces addresses and IPs in the counters. */
  readonly key: Buffer
  /** True adds to the detail of a 429 how the tests of an application switch the limits off. */
  readonly isTest?: boolean
}

const IN_TESTS =
  ' Limits count in tests too: pass limits: false to the provider, or make users by createUser().'

/** Scopes that count failures only and are reset by a success. */
const FAILURES: ReadonlySet<string> = new Set([
  'login.address',
  'login.pair',
  'login.device',
  'login.devices',
  'changePassword.user',
  'code.user',
])
const PRIVATE_SCOPES: ReadonlySet<LimitScope> = new Set(['address', 'pair', 'device', 'devices', 'site'])
/** Scopes that strangers can use up; attempts with a device cookie do not count there. */
const STRANGERS_SCOPES: ReadonlySet<LimitScope> = new Set(['address', 'pair'])
const DEVICE_SCOPES: ReadonlySet<LimitScope> = new Set(['device', 'devices'])

/**
 * Creates limits that are the same for addresses with and without an account, in every environment.
 * @throws StartupError `MORTAR_AUTH_LIMIT` for settings that limit nothing.
 */
export function createRateLimits(options: RateLimitsOptions) {
  const { key, limiter } = options
  const limits = resolveLimits(options.limits)
  for (const limit of limits.filter(isFindable)) limiter.declare?.(declared(key, limit))
  const advice = options.isTest ? IN_TESTS : ''
  const applying = (rule: LimitRule, subject: LimitSubject): CountedLimit[] => {
    const ofRule = limits.filter((limit) => limit.rule === rule)
    const hasDevice = subject.device !== undefined && ofRule.some(({ scope }) => scope === 'device')
    return ofRule.filter(({ scope }) => {
      if (scope === 'site') return clientSite(subject.ip) !== undefined
      return DEVICE_SCOPES.has(scope) ? hasDevice : !(hasDevice && STRANGERS_SCOPES.has(scope))
    })
  }

  return {
    /**
     * Counts one attempt. Call it before any work, and before the password is read.
     * @throws LimitReached (429, with `Retry-After`, `RateLimit` and `RateLimit-Policy`) beyond a limit.
     */
    async attempt(rule: LimitRule, subject: LimitSubject) {
      const visible: CountedState[] = []
      for (const limit of applying(rule, subject)) {
        const count = await limiter.consume(keyOf(key, limit, subject), limit)
        if (!count.allowed) throw new LimitReached(limit, count.resetIn, advice)
        if (!PRIVATE_SCOPES.has(limit.scope)) visible.push(stateOf(limit, count))
      }
      return { headers: limitHeaders(visible) }
    },
    /**
     * Resets the counts of the address or user after a success, also those of all devices after one without a device.
     * Tries of an IP stay counted. Never rejects.
     */
    async success(rule: LimitRule, subject: LimitSubject) {
      const ofDevices = limits.filter((limit) => limit.rule === rule && limit.scope === 'devices')
      for (const limit of new Set([...applying(rule, subject), ...ofDevices]))
        if (FAILURES.has(`${limit.rule}.${limit.scope}`))
          await corrected(() => limiter.clear(keyOf(key, limit, subject), limit))
    },
    /**
     * Subtracts an attempt that the server could not process. `except` names scopes that stay counted. Never rejects.
     */
    async giveBack(rule: LimitRule, subject: LimitSubject, except: readonly LimitScope[] = []) {
      for (const limit of applying(rule, subject))
        if (!except.includes(limit.scope))
          await corrected(() => limiter.giveBack(keyOf(key, limit, subject), limit))
    },
  }
}

/** A count that could not be corrected stays: what it belongs to is done, or has failed for its own reason. */
async function corrected(correct: () => unknown): Promise<void> {
  try {
    await correct()
  } catch {
    // The limiter of the application reports its own faults.
  }
}

/** True if limits are counted without that service, so that its brick does not report memory. */
export function countsAlone(limits: LimitOptions | false | undefined, services: Cradle): boolean {
  return limits !== false && optionalService(services, 'limiter') === undefined
}

/** Facts that a limit of each scope needs: `key` is the address of a user, or a session. */
const NEEDS: Readonly<Record<LimitScope, readonly (keyof KnownClient)[]>> = {
  ip: ['ip'],
  site: ['ip'],
  address: ['key'],
  pair: ['key', 'ip'],
  device: ['key'],
  devices: ['key'],
  session: ['key'],
  user: ['user'],
}
const BY_EMAIL: ReadonlySet<LimitScope> = new Set(['address', 'pair', 'device', 'devices'])

/** An operator does not know the cookie of a device. Mails count for all devices of an address together. */
function isFindable({ rule, scope }: CountedLimit): boolean {
  return scope !== 'device' || rule === 'forgot'
}

function declared(secret: Buffer, limit: CountedLimit): DeclaredLimit {
  const { rule, scope } = limit
  return {
    name: `${rule}-${scope}`,
    limit,
    by: NEEDS[scope].join(' and '),
    keyOf(client) {
      if (NEEDS[scope].some((name) => client[name] === undefined)) return undefined
      const { ip = '', user, key } = client
      const email = canonicalEmail(key)
      if (BY_EMAIL.has(scope) && email === null) return undefined
      if (scope === 'site' && clientSite(ip) === undefined) return undefined
      const known = { ...(email !== null && { email }), ...(user !== undefined && { user }) }
      return keyOf(secret, limit, { ip, ...known, ...(key !== undefined && { session: key }) })
    },
  }
}

function stateOf(limit: CountedLimit, count: CountedState['count']): CountedState {
  return { name: `${limit.rule}-${limit.scope}`, limit, count }
}

/** The counters contain addresses and IPs only as HMACs of fixed length. */
function keyOf(key: Buffer, { rule, scope }: CountedLimit, subject: LimitSubject): string {
  const text = JSON.stringify([rule, scope, ...partsOf(rule, scope, subject)])
  return `auth:${createHmac('sha256', key).update(text).digest('base64url')}`
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
    case 'devices':
      return [email]
    case 'pair':
      return [email, clientNetwork(ip)]
    case 'session':
      return [session]
    case 'user':
      return [user]
  }
}
