const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** The sender of a request. */
interface SentRequest {
  readonly method: string
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** True if the request came over https, as far as the application knows. */
  isSecure?(): boolean
}

/**
 * True if a request may use a credential that the browser attached by itself. Safe methods may. Other methods must come
 * from the same origin by `Sec-Fetch-Site`, or by `Origin` if the browser does not send `Sec-Fetch-Site`, or from a
 * `trusted` origin such as `https://app.example.com`. A request without both headers does not come from a browser page.
 * For a request over https, a page in plain http has another origin.
 */
export function isSameOrigin(request: SentRequest, trusted: readonly string[] = []): boolean {
  if (SAFE_METHODS.has(request.method.toUpperCase())) return true
  const { origin, host, 'sec-fetch-site': site } = request.headers
  if (typeof origin === 'string' && isTrusted(origin, trusted)) return true
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined) return true
  return typeof origin === 'string' && typeof host === 'string' && isOwn(origin, host, request)
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
function isOwn(origin: string, host: string, { isSecure }: SentRequest): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host: own } = new URL(origin)
  if (own !== host.toLowerCase()) return false
  return protocol === 'https:' || (protocol === 'http:' && isSecure?.() !== true)
}
