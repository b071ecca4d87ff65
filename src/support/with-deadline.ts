/** Waits for work, and rejects if it has not settled after `timeout` seconds. The work itself continues. */
export async function withDeadline(work: Promise<unknown>, timeout: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${timeout} s.`)), timeout * 1000)
  })
  try {
    await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
