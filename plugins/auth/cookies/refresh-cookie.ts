import type { Environment } from 'mortar'
import { readCookie } from 'mortar/kit'

/** Headers as Node gives them: lower-case names. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Settings of `createRefreshCookie`. */
export interface RefreshCookieOptions {
  readonly environment: Environment
  /** By default true in production and wherever `appUrl` is https; false only where browsers speak plain http. */
  readonly secure?: boolean
  readonly appUrl?: string
  /** Name without its prefix. */
  readonly name?: string
}

/** The cookie with the refresh token. */
export type RefreshCookie = ReturnType<typeof createRefreshCookie>

/** The part of `ctx` that appends a response header. */
export interface CookieTarget {
  append(name: string, value: string): void
}

/**
 * Creates the refresh cookie: HttpOnly, SameSite=Lax, Path=/, and outside plain-http development Secure with the prefix
 * `__Host-` (ASVS 3.3.1-3.3.4, RFC 6265bis §4.1.3.2). The header is written directly, because the `cookies` package
 * refuses a Secure cookie behind a proxy that terminates TLS.
 */
export function createRefreshCookie(options: RefreshCookieOptions) {
  const { name: plainName = 'mortar_refresh' } = options
  const secure = options.secure ?? isSecureByDefault(options)
  const name = secure ? `__Host-${plainName}` : plainName
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const write = (ctx: CookieTarget, value: string, age: number): void =>
    ctx.append('Set-Cookie', `${name}=${value}; Max-Age=${age}; ${attributes}`)
  return {
    /** Full name, with the prefix `__Host-` when the cookie is Secure. */
    name,
    /** @returns the value of the cookie with exactly this name; null without one or with two different values. */
    read: ({ cookie = '' }: Headers) =>
      readCookie(typeof cookie === 'string' ? cookie : cookie.join('; '), name),
    /** `age` is the cookie's lifetime in seconds: the remaining life of the session. */
    set: write,
    /** Clears the cookie with the same attributes; with others a browser would keep it. */
    clear: (ctx: CookieTarget) => write(ctx, '', 0),
  }
}

function isSecureByDefault({ environment, appUrl }: RefreshCookieOptions): boolean {
  return environment === 'production' || /^https:/i.test(appUrl ?? '')
}
