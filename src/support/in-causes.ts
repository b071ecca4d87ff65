/** Number of causes to follow, so that a circle of causes ends. */
const DEPTH = 8

/** Looks at an error, then at its causes. @returns the first result that is not undefined. */
export function inCauses<T>(
  error: unknown,
  look: (error: Readonly<Record<string, unknown>>) => T | undefined,
): T | undefined {
  let current = error
  for (let depth = 0; depth < DEPTH && typeof current === 'object' && current !== null; depth++) {
    const each = current as Readonly<Record<string, unknown>>
    const found = look(each)
    if (found !== undefined) return found
    current = each['cause']
  }
  return undefined
}
