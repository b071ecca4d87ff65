import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Forbidden, type Middleware } from 'mortar'

/** Clients that may read the page. */
export interface PageAccess {
  /** Other machines, and this machine through a proxy. */
  readonly open: boolean
  /** Accepted host names besides localhost and IP addresses, in lower case. */
  readonly hosts: ReadonlySet<string>
}

/**
 * Refuses every client except the developer at this machine. The page shows reset links, so by default only a loopback
 * connection without forwarding headers is accepted. The host must be one that a foreign site cannot point at this
 * machine (localhost, an IP address, a configured host), which stops DNS rebinding. Scripts of other sites are always
 * refused, even if the application sets CORS headers.
 */
export function localOnly({ open, hosts }: PageAccess): Middleware {
  return function refuseForeign(ctx, next) {
    const { req } = ctx.koa
    if (!open && !isLoopback(req.socket.remoteAddress)) throw new Forbidden(`The mail page is ${OTHERS}`)
    if (!open && (isForwarded(Object.keys(req.headers)) || isLikeProxy(req)))
      throw new Forbidden(
        'This request seems to come through a proxy, so anybody could have sent it. Open the page without the proxy, ' +
          `under the address and port at which the application listens. The page is ${OTHERS}`,
      )
    if (!isLocalHost(ctx.get('host') ?? '', hosts))
      throw new Forbidden(
        'The mail page accepts localhost and IP addresses only. To allow this host, set page: { hosts } in mail(…).',
      )
    if (ctx.get('sec-fetch-site') === 'cross-site' && ctx.get('sec-fetch-mode') !== 'navigate')
      throw new Forbidden('The mail page refuses scripts of other sites.')
    return next()
  }
}

const OTHERS =
  'for the developer at this machine. To open it to others outside production, set page: true or page: { hosts } in mail(…).'

/**
 * True for a request in the form that nginx sends by default, without any header of its own: HTTP/1.0, or a connection
 * for one request. Browsers, curl and `fetch` keep their connections.
 */
export function isLikeProxy({
  httpVersion,
  headers,
}: Pick<IncomingMessage, 'httpVersion' | 'headers'>): boolean {
  return httpVersion === '1.0' || /\bclose\b/i.test(headers.connection ?? '')
}

/** True for an address of 127.0.0.0/8, also inside IPv6, and for ::1. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined || isIP(address) === 0) return false
  return address === '::1' || /^(::ffff:)?127\./i.test(address)
}

const FORWARDING =
  /^(forwarded|via|forwarded-for|client-ip|x-(forwarded|original|real|client|cluster|envoy|proxy|remote|host)(-.*)?|cf-.*|cdn-.*|true-client-ip|fastly-client-ip|fly-.*|x-(azure|vercel|amzn|cloud)-.*|traceparent)$/

/** True for a header, by its lower-case name, that a forwarding proxy sets. */
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
