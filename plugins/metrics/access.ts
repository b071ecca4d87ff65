import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Forbidden, Unauthorized } from '../../src/index.ts'
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

function refuseForeign({ socket, headers }: IncomingMessage): void {
  const isForwarded = Object.keys(headers).some((name) =>
    /^(?:forwarded|via|x-forwarded-.*|x-real-ip)$/.test(name),
  )
  if (!isLoopback(socket.remoteAddress) || isForwarded)
    throw new Forbidden('Without a token the metrics are for this machine only. Set metrics({ token }).')
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined || isIP(address) === 0) return false
  return address === '::1' || /^(?:::ffff:)?127\./i.test(address)
}

/** A digest, because only values of equal length can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
