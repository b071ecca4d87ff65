import type { IncomingMessage, ServerResponse } from 'node:http'
import type Cookies from 'cookies'
import { loadCookies } from '../support/lazy-packages.ts'
import { didYouMean } from '../support/nearest.ts'
import { oncePerObject } from '../support/once.ts'
import { createCookieCipher } from './cookie-cipher.ts'

/** Signs and verifies cookies, as the package `keygrip` does. */
export interface Keygrip {
  sign(data: unknown): string
  verify(data: unknown, digest: string): boolean
  index(data: unknown, digest: string): number
}

/** Keys in Koa's form: a list whose first key signs and whose keys all verify, or a Keygrip. */
export type CookieKeys = readonly string[] | Keygrip | undefined

/** Protection of a cookie. */
export interface CookieProtection {
  /** Adds a second cookie, `<name>.sig`, which proves that the application wrote the value. Needs `keys`. */
  readonly signed?: boolean
  /** Encrypts and authenticates the value. Needs `keys`. */
  readonly encrypted?: boolean
}

/** Options of a cookie: those of the package `cookies`, with `SameSite=Lax` by default. */
export interface CookieOptions extends CookieProtection {
  /** Milliseconds until the cookie expires. Without `maxAge` and `expires` it ends with the browser session. */
  readonly maxAge?: number | undefined
  readonly expires?: Date | undefined
  /** `/` by default. */
  readonly path?: string | undefined
  readonly domain?: string | undefined
  /** Sent over HTTPS only. By default true if the request came over HTTPS. */
  readonly secure?: boolean | undefined
  /** Hidden from scripts; true by default. */
  readonly httpOnly?: boolean | undefined
  readonly sameSite?: 'strict' | 'lax' | 'none' | boolean | undefined
  readonly priority?: 'low' | 'medium' | 'high' | undefined
  /** Kept apart for each site that embeds the page (CHIPS). */
  readonly partitioned?: boolean | undefined
  /** Replaces a cookie of the same name that was set before in the same response. */
  readonly overwrite?: boolean | undefined
}

/** The cookies of a request and its response. */
export interface RequestCookies {
  /**
   * Returns the value of a cookie. With `signed` or `encrypted`: undefined if the application did not write the value.
   */
  get(name: string, protection?: CookieProtection): string | undefined
  /** Sets a cookie of the response, or removes it without a value. HttpOnly and SameSite=Lax by default. */
  set(name: string, value?: string | null, options?: CookieOptions): this
}

/** Cookie settings of one application. */
export interface CookieSettings {
  /** Default of the cookie option `secure`; undefined to follow the connection. */
  readonly secure: boolean | undefined
  /** Returns the keys. Called for each request, because `app.koa.keys` may be set late. */
  keys(): CookieKeys
}

/** Creates `ctx.cookies`. */
export function createCookies(
  req: IncomingMessage,
  res: ServerResponse,
  { secure, keys: readKeys }: CookieSettings,
): RequestCookies {
  const keys = readKeys()
  // The package `cookies` never modifies the list.
  const cookies = new (loadCookies())(req, res, { keys: keys as Cookies.Option['keys'], secure })
  const jar: RequestCookies = {
    get(name, { signed = false, encrypted = false } = {}) {
      refuseWithoutKeys(name, { signed, encrypted }, keys)
      if (!encrypted) return cookies.get(name, { signed })
      const sealed = cookies.get(name, { signed: false })
      return sealed === undefined ? undefined : cipherOf(keys!).open(name, sealed)
    },
    set(name, value, { signed = false, encrypted = false, ...options } = {}) {
      refuseWithoutKeys(name, { signed, encrypted }, keys)
      refuseUnsendable(name, value, options)
      const sent = encrypted && value ? cipherOf(keys!).seal(name, value) : value
      // The value of an encrypted cookie is already authenticated.
      cookies.set(name, sent, { sameSite: 'lax', ...options, signed: signed && !encrypted })
      return jar
    },
  }
  return jar
}

function refuseWithoutKeys(name: string, { signed, encrypted }: CookieProtection, keys: CookieKeys): void {
  if (!signed && !encrypted) return
  const wanted = signed ? 'signed' : 'encrypted'
  if (keys === undefined)
    throw new Error(
      `The cookie '${name}' cannot be ${wanted} because the application has no keys. Pass random keys to createApp({ keys: [...] }).`,
    )
  if (encrypted && !Array.isArray(keys))
    throw new Error(
      `The cookie '${name}' cannot be encrypted because app.koa.keys is not a list. Pass random keys to createApp({ keys: [...] }).`,
    )
}

const OPTIONS: ReadonlySet<string> = new Set([
  'maxAge',
  'expires',
  'path',
  'domain',
  'secure',
  'httpOnly',
  'sameSite',
  'priority',
  'partitioned',
  'overwrite',
] satisfies readonly (keyof CookieOptions)[])

/** Names that the package `cookies` reads too, with a warning that they are deprecated. */
const DEPRECATED: ReadonlySet<string> = new Set(['secureProxy', 'maxage'])

/** @throws TypeError for a value without text, and for an option such as `samesite`, which nothing would read. */
function refuseUnsendable(name: string, value: unknown, options: Readonly<Record<string, unknown>>): void {
  if (typeof value === 'object' && value !== null)
    throw new TypeError(
      `The value of the cookie '${name}' is an object. Set a string, such as JSON.stringify(value).`,
    )
  for (const option in options)
    if (!OPTIONS.has(option) && !DEPRECATED.has(option) && options[option] !== undefined)
      throw new TypeError(`Unknown option '${option}' of the cookie '${name}'. ${remedyFor(option)}`)
}

function remedyFor(option: string): string {
  return didYouMean(option, OPTIONS, `The options are ${[...OPTIONS].join(', ')}.`)
}

/** Returns the cipher of a list of keys, made once: deriving keys takes some microseconds. */
const cipherOf = oncePerObject((keys: object) => createCookieCipher(keys as readonly string[]))
