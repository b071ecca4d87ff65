/** Number of causes to follow, so that a circle of causes ends. */
const DEPTH = 8

/** Looks at an error, then at its causes. @returns the first result that is not undefined. */
export function inCauses<T>(
  error: unknown,
  look: (error: { readonly driverError?: unknown }) => T | undefined,
): T | undefined {
  let current = error
  for (let depth = 0; depth < DEPTH && typeof current === 'object' && current !== null; depth++) {
    const found = look(current)
    if (found !== undefined) return found
    current = (current as { readonly cause?: unknown }).cause
  }
  return undefined
}
