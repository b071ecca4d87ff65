/** Fields of an error for the log. Other properties are left out: drivers attach parameters, which are data of users. */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack } = error
  const { code } = error as { readonly code?: unknown }
  return { type: name, message, ...(typeof code === 'string' && { code }), stack }
}
