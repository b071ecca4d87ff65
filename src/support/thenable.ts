/** True for a promise or another value that `await` waits for, so that synchronous work stays synchronous. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' ? value !== null : typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}

/** Returns a promise for what `await` waits for: the `then` of any other object may return nothing, or settle twice. */
export function promiseOf<Value>(value: PromiseLike<Value>): Promise<Value> {
  return value instanceof Promise ? value : Promise.resolve(value)
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
