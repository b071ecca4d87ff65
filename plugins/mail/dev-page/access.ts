import { Forbidden, type Middleware } from 'mortar'
import { isForwarded, isLocalHost, isLoopback } from 'mortar/kit'

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
    if (!open && !isLoopback(req)) throw new Forbidden(`The mail page is ${OTHERS}`)
    if (!open && isForwarded(req))
      throw new Forbidden(
        'This request seems to come through a proxy, so anybody could have sent it. Open the page without the proxy, ' +
          `under the address and port at which the application listens. The page is ${OTHERS}`,
      )
    if (!isLocalHost(req, hosts))
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
