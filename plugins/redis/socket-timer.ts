/*
 * ioredis 5 starts a timer for `socketTimeout` with the first command and stops it with the next bytes, but not when
 * the connection is lost. The timer would then close the next connection. test/plugins/redis/brick.test.ts checks that
 * the private property still has this name.
 */
import type { Redis } from 'ioredis'

/** Stops the timer of a lost connection. */
export function stopTimerOnClose(client: Redis): Redis {
  // A private property, so the types do not contain it as writable.
  const inner = client as unknown as { socketTimeoutTimer?: NodeJS.Timeout | undefined }
  return client.on('close', () => {
    clearTimeout(inner.socketTimeoutTimer)
    inner.socketTimeoutTimer = undefined
  })
}
