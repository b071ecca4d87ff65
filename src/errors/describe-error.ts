/**
 * Converts an error into log fields: kind, message, code, stack and causes. All other properties are left out, because
 * drivers and clients attach queries, parameters and request headers, which contain hashes and tokens.
 */
export function describeError(thrown: unknown, depth = 4): unknown {
  try {
    return describe(thrown, depth)
  } catch {
    return { type: 'unknown', message: 'An error that cannot be read was thrown.' }
  }
}

function describe(thrown: unknown, depth: number): unknown {
  if (!(thrown instanceof Error))
    return { type: typeof thrown, message: 'A value that is not an Error was thrown.' }
  const { code } = thrown as { code?: unknown }
  return {
    type: thrown.name,
    message: thrown.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: thrown.stack,
    ...(thrown.cause === undefined || depth === 0 ? {} : { cause: describeError(thrown.cause, depth - 1) }),
  }
}
