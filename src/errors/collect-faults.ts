import { StartupError, StartupErrors } from './startup-error.ts'

/** Creates a collector of the faults of several reads, so that one run shows all of them. */
export function collectFaults() {
  const faults: StartupError[] = []
  return {
    /**
     * Returns the value, or undefined after a `StartupError`. `throwAll` throws before anything uses that value. Any other
     * error is thrown immediately.
     */
    read<T>(value: () => T): T {
      try {
        return value()
      } catch (error) {
        if (!(error instanceof StartupError)) throw error
        faults.push(...(error instanceof StartupErrors ? error.errors : [error]))
        return undefined as T
      }
    },
    /** @throws StartupError the only fault, or StartupErrors. */
    throwAll(summary: (count: number) => string) {
      if (faults.length === 1) throw faults[0]!
      if (faults.length > 1) throw new StartupErrors(summary(faults.length), faults)
    },
  }
}
