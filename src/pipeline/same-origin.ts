import type { RequestContext } from '../context/request-context.ts'

/**
 * True unless a browser says that the request comes from a page of another origin: by `Sec-Fetch-Site`, or by `Origin`
 * where the first is absent. A client that sends neither is no browser page.
 */
export function isSameOrigin(ctx: RequestContext, trustedOrigins: readonly string[]): boolean {
  const { origin, host } = ctx.rawHeaders
  const site = ctx.rawHeaders['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return true
  if (typeof origin === 'string' && trustedOrigins.includes(origin)) return true
  if (site !== undefined) return false
  return origin === undefined || (typeof origin === 'string' && hostOf(origin) === host)
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
