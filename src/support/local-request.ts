import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** True for a request over a loopback connection (127.0.0.0/8, also inside IPv6, or ::1). */
export function isLoopback({ socket }: IncomingMessage): boolean {
  const { remoteAddress = '' } = socket
  return isIP(remoteAddress) !== 0 && /^(::1$|(::ffff:)?127\.)/i.test(remoteAddress)
}

const FORWARDING =
  /^(forwarded|via|forwarded-for|client-ip|x-(forwarded|original|real|client|cluster|envoy|proxy|remote|host)(-.*)?|cf-.*|cdn-.*|true-client-ip|fastly-client-ip|fly-.*|x-(azure|vercel|amzn|cloud)-.*|traceparent)$/

/**
 * True for a request that a proxy seems to have forwarded: by a header of proxies, or in the form that nginx sends by
 * default, HTTP/1.0 or a connection for one request. Browsers, curl and `fetch` keep their connections.
 */
export function isForwarded({ headers, httpVersion }: IncomingMessage): boolean {
  if (httpVersion === '1.0' || /\bclose\b/i.test(headers.connection ?? '')) return true
  return Object.keys(headers).some((name) => FORWARDING.test(name))
}

/**
 * True if the header `Host` is localhost, an IP address, or one of the allowed names, in lower case. A foreign web page
 * can point its own name at this machine (DNS rebinding), but none of these.
 */
export function isLocalHost(
  { headers: { host = '' } }: IncomingMessage,
  allowed?: ReadonlySet<string>,
): boolean {
  const name = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d*)?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '')
  if (name === undefined) return false
  if (name === 'localhost' || name.endsWith('.localhost') || allowed?.has(name)) return true
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}
