const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Header values by lower-case name. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Whether a request may use a credential that the browser attached on its own. Safe methods may; others must come
 * from the same origin by `Sec-Fetch-Site`, or by `Origin` where a browser sends no `Sec-Fetch-Site`, or from a
 * `trusted` origin such as `https://app.example.com`. Without either header no browser page sent it.
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

/** Scheme, host and port; null for `null`, opaque origins and whatever is no URL. */
function originOf(text: string): string | null {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  return origin === 'null' ? null : origin
}

/** The host of an http(s) origin as a browser writes it into `Host`: without the default port. */
function hostOf(origin: string): string | null {
  if (!URL.canParse(origin)) return null
  const { protocol, host } = new URL(origin)
  return protocol === 'http:' || protocol === 'https:' ? host : null
}
