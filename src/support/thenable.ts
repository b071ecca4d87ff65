/**
 * True for a promise or another value that `await` waits for, so that synchronous work stays synchronous. Its own `then`
 * may return nothing, or settle twice: use that of `Promise.resolve(value)`.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' ? value !== null : typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}

/** `Promise.withResolvers()`, which Node 20 lacks. */
export function promiseWithResolvers() {
  let resolve!: () => void
  let reject!: (error: Error) => void
  const promise = new Promise<void>((...settle) => {
    ;[resolve, reject] = settle
  })
  return { promise, resolve, reject }
}
