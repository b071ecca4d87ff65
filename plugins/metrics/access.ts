import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Forbidden, Unauthorized } from 'mortar'
import { isForwarded, isLocalHost, isLoopback } from 'mortar/kit'
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

function refuseForeign(req: IncomingMessage): void {
  if (!isLoopback(req) || isForwarded(req))
    throw new Forbidden(
      'Without a token the metrics are for this machine only, without a proxy. Set metrics({ token }).',
    )
  if (!isLocalHost(req))
    throw new Forbidden(
      'Without a token the metrics accept localhost and IP addresses only. Set metrics({ token }).',
    )
}

/** A digest, because only values of equal length can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
