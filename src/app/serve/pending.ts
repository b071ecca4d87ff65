import { withDeadline } from '../../support/with-deadline.ts'

/** Work in flight that the application's own server does not wait for. */
export type Pending = ReturnType<typeof createPending>

/** Creates an empty set of work. */
export function createPending() {
  const pending = new Set<() => void>()
  let onEnd: ((end: () => void) => void) | undefined
  function begin(): () => void {
    const end = (): void => {
      pending.delete(end)
      onEnd?.(end)
    }
    pending.add(end)
    return end
  }
  return {
    /** Counts work as in flight until the returned function is called. */
    begin,
    /** Counts work as in flight until it settles. */
    track<T>(work: Promise<T>) {
      const end = begin()
      work.then(end, end)
      return work
    },
    /** Waits at most `timeout` seconds for the work in flight. */
    drain(timeout: number) {
      const left = new Set(pending)
      if (left.size === 0) return Promise.resolve()
      const drained = new Promise<void>((resolve) => {
        onEnd = (end) => {
          if (left.delete(end) && left.size === 0) resolve()
        }
      })
      return withDeadline(drained, timeout).catch(() => undefined)
    },
  }
}
