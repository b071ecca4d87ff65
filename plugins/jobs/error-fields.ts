/** Most characters of an error in the table. */
const LONGEST = 500

/** Fields of an error for the log. Other properties are left out: drivers attach parameters, which are the job's data. */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack } = error
  const { code } = error as { readonly code?: unknown }
  return { type: name, message, ...(typeof code === 'string' && { code }), stack }
}

/** Name and message of an error, for the table. */
export function errorLine(error: unknown): string {
  const line = error instanceof Error ? `${error.name}: ${error.message}` : `A ${typeof error} was thrown.`
  // The `jsonb` of pg-boss refuses half a character, which the buffer replaces.
  return Buffer.from(line.replaceAll('\0', '').slice(0, LONGEST)).toString()
}
