/** Number of causes to follow, so that a circle of causes ends. */
const DEPTH = 8

/**
 * Looks at an error, then at its causes. Never throws: the search ends at an error that cannot be read.
 * @returns the first result that is not undefined.
 */
export function inCauses<T>(
  error: unknown,
  look: (error: Readonly<Record<string, unknown>>) => T | undefined,
): T | undefined {
  let current = error
  try {
    for (let depth = 0; depth < DEPTH && typeof current === 'object' && current !== null; depth++) {
      const each = current as Readonly<Record<string, unknown>>
      const found = look(each)
      if (found !== undefined) return found
      current = each['cause']
    }
  } catch {
    // A getter of the error or a trap of a proxy has thrown.
  }
  return undefined
}
