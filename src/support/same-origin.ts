const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** The members of a context that tell where its request comes from. */
interface SentRequest {
  readonly method: string
  get(name: string): string | undefined
  readonly koa: { readonly secure: boolean }
}

/**
 * True if a request may use a credential that the browser attached by itself. Safe methods may. Other methods must come
 * from the same origin by `Sec-Fetch-Site`, or by `Origin` if the browser does not send `Sec-Fetch-Site`, or from a
 * `trusted` origin such as `https://app.example.com`. A request without both headers does not come from a browser page.
 * For a request over https, a page in plain http has another origin. Another `method` is for a request that does more than
 * its own method says, such as the handshake of a socket.
 */
export function isSameOrigin(
  ctx: SentRequest,
  trusted: readonly string[] = [],
  method: string = ctx.method,
): boolean {
  if (SAFE_METHODS.has(method.toUpperCase())) return true
  const origin = ctx.get('origin')
  if (origin !== undefined && isTrusted(origin, trusted)) return true
  const site = ctx.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || isOwn(origin, ctx)
}

function isTrusted(origin: string, trusted: readonly string[]): boolean {
  const found = originOf(origin)
  return found !== null && trusted.some((each) => originOf(each) === found)
}

/** Returns scheme, host and port; null for `null`, opaque origins and invalid URLs. */
function originOf(text: string): string | null {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  return origin === 'null' ? null : origin
}

/** Compares an http(s) origin with `Host`, which browsers send without the default port. */
function isOwn(origin: string, ctx: SentRequest): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  if (host !== ctx.get('host')?.toLowerCase()) return false
  return protocol === 'https:' || (protocol === 'http:' && !ctx.koa.secure)
}
