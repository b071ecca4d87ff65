/** `Promise.withResolvers()`, which Node 20 lacks. */
export function promiseWithResolvers() {
  let resolve!: () => void
  let reject!: (error: Error) => void
  const promise = new Promise<void>((...settle) => {
    ;[resolve, reject] = settle
  })
  return { promise, resolve, reject }
}
