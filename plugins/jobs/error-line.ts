/** Most characters of an error in the table. */
const LONGEST = 500

/** Name and message of an error, for the table. */
export function errorLine(error: unknown): string {
  const line = error instanceof Error ? `${error.name}: ${error.message}` : `A ${typeof error} was thrown.`
  // The `jsonb` of pg-boss refuses half a character, which the buffer replaces.
  return Buffer.from(line.replaceAll('\0', '').slice(0, LONGEST)).toString()
}
