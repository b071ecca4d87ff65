import { isIP } from 'node:net'
import { Forbidden, type Middleware } from '../../../src/index.ts'

/**
 * Refuses requests that a foreign web page may have caused. The page shows reset links, so it answers only under a name
 * that a foreign site cannot point at this machine (localhost, an IP address, a configured host), which stops DNS
 * rebinding, and never to a script of another site, whatever CORS headers the application sets.
 */
export function localOnly(hosts: readonly string[]): Middleware {
  const allowed = new Set(hosts.map((host) => host.toLowerCase()))
  return function refuseForeign(ctx, next) {
    if (!isLocalHost(ctx.get('host') ?? '', allowed))
      throw new Forbidden(
        "The mail page answers on localhost and IP addresses only. Add this host to the mail brick's `hosts`, or set its `appUrl`.",
      )
    if (ctx.get('sec-fetch-site') === 'cross-site' && ctx.get('sec-fetch-mode') !== 'navigate')
      throw new Forbidden('The mail page is not for scripts of other sites.')
    return next()
  }
}

/** True for a `Host` header whose name is localhost, an IP address, or one of the allowed names. */
export function isLocalHost(host: string, allowed: ReadonlySet<string>): boolean {
  const name = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d*)?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '')
  if (name === undefined) return false
  if (name === 'localhost' || name.endsWith('.localhost') || allowed.has(name)) return true
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}
