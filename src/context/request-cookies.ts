import type { IncomingMessage, ServerResponse } from 'node:http'
import type Cookies from 'cookies'
import { loadCookies } from '../support/lazy-packages.ts'
import { createCookieCipher, type CookieCipher } from './cookie-cipher.ts'

/** Signs and verifies cookies, as the package `keygrip` does. */
export interface Keygrip {
  sign(data: unknown): string
  verify(data: unknown, digest: string): boolean
  index(data: unknown, digest: string): number
}

/** Keys as Koa has them: a list, of which the first signs and all verify, or a Keygrip. */
export type CookieKeys = readonly string[] | Keygrip | undefined

/** Protection of a cookie. */
export interface CookieProtection {
  /** A second cookie, `<name>.sig`, proves that the application wrote the value. Needs `keys`. */
  readonly signed?: boolean
  /** The value is encrypted, and proven to be the application's. Needs `keys`. */
  readonly encrypted?: boolean
}

/** Options of a cookie: those of the package `cookies`, with `SameSite=Lax` by default. */
export interface CookieOptions extends CookieProtection {
  /** Milliseconds from now until it expires; without it and `expires` it ends with the browser's session. */
  readonly maxAge?: number | undefined
  readonly expires?: Date | undefined
  /** `/` by default. */
  readonly path?: string | undefined
  readonly domain?: string | undefined
  /** Sent over HTTPS only; by default when the request came over HTTPS. */
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
  /** Value of a cookie. One that was set signed or encrypted is undefined when it was not written by the application. */
  get(name: string, protection?: CookieProtection): string | undefined
  /** Sets a cookie of the response; without a value it is removed. HttpOnly and SameSite=Lax unless the options say otherwise. */
  set(name: string, value?: string | null, options?: CookieOptions): this
}

/** Settings that the cookies of one application share. */
export interface CookieSettings {
  /** Default of the option `secure` of a cookie; undefined follows the connection. */
  readonly secure: boolean | undefined
  /** Read for each request, as `app.koa.keys` may be set late. */
  keys(): CookieKeys
}

/** Makes `ctx.cookies`. */
export function createCookies(
  req: IncomingMessage,
  res: ServerResponse,
  { secure, keys: readKeys }: CookieSettings,
): RequestCookies {
  const keys = readKeys()
  // The package never changes the list.
  const cookies = new (loadCookies())(req, res, { keys: keys as Cookies.Option['keys'], secure })
  const jar: RequestCookies = {
    get(name, { signed = false, encrypted = false } = {}) {
      refuseWithoutKeys(name, { signed, encrypted }, keys)
      if (!encrypted) return cookies.get(name, { signed })
      const sealed = cookies.get(name, { signed: false })
      return sealed === undefined ? undefined : cipherOf(keys).open(name, sealed)
    },
    set(name, value, { signed = false, encrypted = false, ...options } = {}) {
      refuseWithoutKeys(name, { signed, encrypted }, keys)
      const sent = encrypted && value ? cipherOf(keys).seal(name, value) : value
      // The value of an encrypted cookie is authenticated already.
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
      `The cookie '${name}' is to be ${wanted}, and the application has no keys. Give createApp({ keys: [...] }) random ones.`,
    )
  if (encrypted && !Array.isArray(keys))
    throw new Error(
      `The cookie '${name}' is to be encrypted, and app.koa.keys is not a list. Give createApp({ keys: [...] }) random ones.`,
    )
}

const ciphers = new WeakMap<object, CookieCipher>()

/** Deriving keys takes some microseconds, so each list has one cipher. */
function cipherOf(keys: CookieKeys): CookieCipher {
  const list = keys as readonly string[]
  let cipher = ciphers.get(list)
  if (cipher === undefined) ciphers.set(list, (cipher = createCookieCipher(list)))
  return cipher
}
