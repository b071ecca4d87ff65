/*
 * ioredis 5 starts a timer for `socketTimeout` with the first command and stops it with the next bytes, but not when
 * the connection is lost. The timer would then close the next connection. It is in the private member
 * `socketTimeoutTimer`, set by the private method `setSocketTimeout`. Fallback: that connection is opened twice, and one
 * process warning reports it. Checked by test/plugins/redis/compat.test.ts.
 */
import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { installed } from 'mortar/kit'

type RedisClass = new (...args: never[]) => Redis

/** The private members. */
interface Timed {
  socketTimeoutTimer?: NodeJS.Timeout | undefined
  setSocketTimeout?(): void
}

let hasWarned = false

/** Stops the timer of a lost connection. */
export function stopTimerOnClose(client: Redis, Class: RedisClass): Redis {
  if (!keepsTimer(Class)) {
    warnOnce()
    return client
  }
  const inner = client as unknown as Timed
  return client.on('close', () => {
    clearTimeout(inner.socketTimeoutTimer)
    inner.socketTimeoutTimer = undefined
  })
}

/** True if the timer of a client of this class is in the expected member. */
export function keepsTimer({ prototype }: { readonly prototype: object }): boolean {
  const sample = Object.create(prototype, {
    options: { value: { socketTimeout: 1 } },
    stream: { value: Object.assign(new EventEmitter(), { destroy: () => undefined }) },
  }) as Timed
  try {
    sample.setSocketTimeout?.()
    return sample.socketTimeoutTimer !== undefined
  } catch {
    return false
  } finally {
    // Also after an error: without the expected socket, the timer would end the process.
    clearTimeout(sample.socketTimeoutTimer)
  }
}

function warnOnce(): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(
    `${installed('ioredis', import.meta.url)} keeps the timer of its option socketTimeout elsewhere. After a lost connection, the next one may be opened twice. Install the version on which @mortar/redis depends. \`npm ls ioredis\` lists the versions.`,
    { code: 'IOREDIS_DIFFERS' },
  )
}
