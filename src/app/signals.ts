const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Ends the process properly when it is asked to end: the first signal closes the application and exits with 0, or 1 when
 * closing fails; the second exits at once with the signal's own code.
 * @returns a function that takes the handlers off again.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  let closing = false
  const handlers = SIGNALS.map((signal) => {
    const handle = (): void => {
      if (closing) process.exit(signal === 'SIGINT' ? 130 : 143)
      closing = true
      close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    }
    process.on(signal, handle)
    return () => process.off(signal, handle)
  })
  return () => {
    if (!closing) for (const remove of handlers) remove()
  }
}
