/** Waits for the stop of a part for at most `timeout` seconds, and for all parts together for twice as long. */
export function stopped(work: unknown, timeout: number, left: () => number): Promise<unknown> {
  const late = (): Error =>
    new Error(`It took longer than ${timeout} s, or all longer than ${2 * timeout} s.`)
  return withDeadline(Promise.resolve(work), Math.min(timeout, left()), late)
}

/** Returns a function that returns the seconds left of a time that begins now; 0 after its end. */
export function countdown(seconds: number): () => number {
  const end = performance.now() + seconds * 1000
  return () => Math.max(0, (end - performance.now()) / 1000)
}

/**
 * Waits for work, and rejects if it has not settled after `timeout` seconds, for which the process goes on. The work itself
 * continues.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  timeout: number,
  late = () => new Error(`It took longer than ${timeout} s.`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), timeout * 1000)
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
