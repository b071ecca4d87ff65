import type { Redis } from 'ioredis'
import { addressOf } from './client.ts'
import { fault } from './startup-codes.ts'

/** Replies that another attempt cannot change. */
const FINAL = /^(?:WRONGPASS|NOAUTH|NOPERM|ERR invalid password|ERR AUTH|ERR DB index|ERR invalid DB)/

/**
 * Waits until a client can send commands, for at most `timeout` milliseconds. ioredis repeats failed attempts meanwhile.
 * @throws StartupError `MORTAR_REDIS_REFUSED` immediately, `MORTAR_REDIS_UNREACHABLE` after the time. The client is then
 * disconnected.
 */
export async function connect(client: Redis, timeout: number): Promise<void> {
  if (client.status === 'ready') return
  let timer: NodeJS.Timeout | undefined
  let last: unknown
  try {
    await new Promise<void>((resolve, reject) => {
      const error = (reason: unknown): void => {
        if (codeOf(reason)) last = reason
        if (isFinal(reason)) reject(refused(client, reason))
      }
      // The listener of errors stays: ioredis prints each error that has none, also those of a client that is closing.
      client.once('ready', resolve).on('error', error)
      timer = setTimeout(() => reject(unreachable(client, last, timeout)), timeout)
      // A client that is connecting rejects a second call. A failed attempt is reported as an error event.
      client.connect().catch(error)
    })
  } catch (error) {
    client.disconnect()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function isFinal(reason: unknown): boolean {
  return reason instanceof Error && FINAL.test(reason.message)
}

function refused(client: Redis, reason: unknown): Error {
  const word = /^\w+/.exec((reason as Error).message)![0]
  return fault('MORTAR_REDIS_REFUSED', `Redis at ${addressOf(client)} refuses the connection: ${word}.`)
}

/** Contains the code of the last error only, because a message may contain an address with a password. */
function unreachable(client: Redis, last: unknown, timeout: number): Error {
  const reason = codeOf(last)
  return fault(
    'MORTAR_REDIS_UNREACHABLE',
    `Redis at ${addressOf(client)} does not respond within ${timeout / 1000} s${reason && ` (${reason})`}.`,
  )
}

/** The code of a connection error: `ECONNREFUSED`; empty for other errors. */
export function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { readonly code?: unknown; readonly errors?: readonly unknown[] }
  if (typeof code === 'string') return code
  return errors?.length ? codeOf(errors[0]) : ''
}
