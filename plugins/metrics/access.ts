import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Forbidden, Unauthorized } from 'mortar'
import type { MetricsSettings } from './options.ts'

/**
 * Returns the check of a reader: the bearer token, or without one a loopback connection that no proxy has forwarded.
 * Without a token in production, the brick does not start.
 * @throws Unauthorized, Forbidden, from the returned function.
 */
export function readerOf({ token }: Pick<MetricsSettings, 'token'>): (req: IncomingMessage) => void {
  if (token === undefined) return refuseForeign
  const expected = digest(`Bearer ${token}`)
  return ({ headers: { authorization = '' } }) => {
    const given = digest(authorization.replace(/^bearer +/i, 'Bearer '))
    if (!timingSafeEqual(given, expected)) throw new Unauthorized('The metrics need their bearer token.')
  }
}

/** nginx's default sends no header of its own, but HTTP/1.0 or a connection for one request. */
function refuseForeign({ socket, headers, httpVersion }: IncomingMessage): void {
  const isForwarded =
    Object.keys(headers).some((name) => FORWARDING.test(name)) ||
    httpVersion === '1.0' ||
    /\bclose\b/i.test(headers.connection ?? '')
  if (!isLoopback(socket.remoteAddress) || isForwarded)
    throw new Forbidden(
      'Without a token the metrics are for this machine only, without a proxy. Set metrics({ token }).',
    )
  if (!isLocalName(headers.host ?? ''))
    throw new Forbidden(
      'Without a token the metrics accept localhost and IP addresses only. Set metrics({ token }).',
    )
}

const FORWARDING =
  /^(?:forwarded|via|x-(?:forwarded|real|original|client)-.*|cf-.*|cdn-.*|fly-.*|true-client-ip)$/

/** A foreign web page can point its own name at this machine (DNS rebinding), but not an IP address. */
function isLocalName(host: string): boolean {
  const name = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d*)?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '')
  if (name === undefined) return false
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined || isIP(address) === 0) return false
  return address === '::1' || /^(?:::ffff:)?127\./i.test(address)
}

/** A digest, because only values of equal length can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
