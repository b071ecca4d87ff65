import type { Duration } from '../support/duration.ts'
import type { User } from './user.ts'

/** A number of requests in a window that begins with the first one. */
export interface Limit {
  /** Whole number of at least 1. */
  readonly limit: number
  /** Seconds, or with a unit (`'15m'`); one second to 24 days. */
  readonly window: Duration
}

/** State of a counter after one more request; times in milliseconds. */
export interface LimitCount {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetIn: number
}

/** The part of the request that the function of `by` receives. Parameters and query are raw strings. */
export interface LimitContext {
  readonly params: Readonly<Record<string, string>>
  readonly method: string
  readonly path: string
  readonly ip: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Null on a route without `auth` for a request without a valid credential. */
  readonly user: User | null
  readonly [member: string]: unknown
}

/**
 * Subject of a limit: the client's network, the signed-in user, the presented credential, or the string that a function
 * returns. A request for which the function returns null is not counted.
 */
export type LimitBy =
  'ip' | 'user' | 'credential' | ((ctx: LimitContext) => string | null | Promise<string | null>)

/** A limit of routes. */
export interface LimitRule extends Limit {
  readonly by: LimitBy
}

/** Facts about a client that an operator knows. `key` is the string of a function of `by`, an address of a user, or a session. */
export interface KnownClient {
  readonly ip?: string
  readonly user?: string
  readonly key?: string
}

/** A limit that a part of the application counts by. */
export interface DeclaredLimit {
  /** Unique: `search` of a rule, `GET /posts ip-60s` of a route, `login-ip` of the sign-in. */
  readonly name: string
  readonly limit: Limit
  /** Names of what it counts by, for a list: `ip`, `user`. */
  readonly by: string
  /** Returns the key that is counted for a client; undefined if the limit needs to know more of it. */
  keyOf(client: KnownClient): string | undefined
}

/**
 * The service `limiter`, which counts the requests of limited routes; a brick provides it. It never rejects because of
 * its store: while the store fails, it counts in memory with the same limit. `Rules` are the names of its rules.
 */
export interface Limiter<Rules extends string = string> {
  /** True if all processes of the application count together. */
  readonly isShared: boolean
  /** Rules by name; `limit: 'name'` of a route refers to one. */
  readonly rules: Readonly<Record<Rules, LimitRule>>
  /**
   * Counts one request in one atomic step. A key is counted apart for each combination of `limit` and `window`.
   * @throws RangeError for numbers that would limit nothing.
   */
  consume(key: string, limit: Limit): LimitCount | Promise<LimitCount>
  /** Resets the count of a key. */
  clear(key: string, limit: Limit): void | Promise<void>
  /** Subtracts one request of a key. */
  giveBack(key: string, limit: Limit): void | Promise<void>
  /** Told of each limit before its first count, so that commands of an operator find it. */
  declare?(limit: DeclaredLimit): void
}

/** The names of an application's rules, as its service `limiter` declares them; else `string`. */
export type RuleNames<Services> = Services extends { readonly limiter: { readonly rules: infer Rules } }
  ? keyof Rules & string
  : string
