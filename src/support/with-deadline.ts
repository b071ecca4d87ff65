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
