const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Header values by lower-case name. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * True if a request may use a credential that the browser attached by itself. Safe methods may. Other methods must come
 * from the same origin by `Sec-Fetch-Site`, or by `Origin` if the browser does not send `Sec-Fetch-Site`, or from a
 * `trusted` origin such as `https://app.example.com`. A request without both headers does not come from a browser page.
 */
export function isSameOrigin(
  request: { readonly method: string; readonly headers: Headers },
  trusted: readonly string[] = [],
): boolean {
  if (SAFE_METHODS.has(request.method.toUpperCase())) return true
  const { origin, host, 'sec-fetch-site': site } = request.headers
  if (typeof origin === 'string' && isTrusted(origin, trusted)) return true
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined) return true
  return typeof origin === 'string' && typeof host === 'string' && hostOf(origin) === host.toLowerCase()
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

/** Returns the host of an http(s) origin as browsers send it in `Host`: without the default port. */
function hostOf(origin: string): string | null {
  if (!URL.canParse(origin)) return null
  const { protocol, host } = new URL(origin)
  return protocol === 'http:' || protocol === 'https:' ? host : null
}
