import { isIP } from 'node:net'
import { Forbidden, type Middleware } from '../../../src/index.ts'

/** Readers that may see the page. */
export interface PageAccess {
  /** Other machines too, and this one through a proxy. */
  readonly open: boolean
  /** Host names under which it answers besides localhost and IP addresses, in lower case. */
  readonly hosts: ReadonlySet<string>
}

/**
 * Refuses everybody but the developer at this machine. The page shows reset links, so by default it answers a loopback
 * connection that no proxy has forwarded. Whoever may connect, it answers only under a name that a foreign site cannot
 * point at this machine (localhost, an IP address, a configured host), which stops DNS rebinding, and never to a script
 * of another site, whatever CORS headers the application sets.
 */
export function localOnly({ open, hosts }: PageAccess): Middleware {
  return function refuseForeign(ctx, next) {
    const { req } = ctx.koa
    if (!open && !(isLoopback(req.socket.remoteAddress) && !isForwarded(Object.keys(req.headers))))
      throw new Forbidden(
        'The mail page is for the developer at this machine. To open it to others outside production, set page: true or page: { hosts } in mail(…).',
      )
    if (!isLocalHost(ctx.get('host') ?? '', hosts))
      throw new Forbidden(
        'The mail page answers on localhost and IP addresses only. To allow this host, set page: { hosts } in mail(…).',
      )
    if (ctx.get('sec-fetch-site') === 'cross-site' && ctx.get('sec-fetch-mode') !== 'navigate')
      throw new Forbidden('The mail page is not for scripts of other sites.')
    return next()
  }
}

/** True for an address of 127.0.0.0/8, also inside IPv6, and for ::1. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined || isIP(address) === 0) return false
  return address === '::1' || /^(::ffff:)?127\./i.test(address)
}

const FORWARDING =
  /^(forwarded|via|forwarded-for|client-ip|x-(forwarded|original|real|client|cluster|envoy|proxy|remote|host)(-.*)?|cf-.*|true-client-ip|fastly-client-ip)$/

/** True when a header (by its lower-case name) tells that a proxy has passed the request on. */
export function isForwarded(headerNames: readonly string[]): boolean {
  return headerNames.some((name) => FORWARDING.test(name))
}

/** True for a `Host` header whose name is localhost, an IP address, or one of the allowed names. */
export function isLocalHost(host: string, allowed: ReadonlySet<string>): boolean {
  const name = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d*)?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '')
  if (name === undefined) return false
  if (name === 'localhost' || name.endsWith('.localhost') || allowed.has(name)) return true
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}
