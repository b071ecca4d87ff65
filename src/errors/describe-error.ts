/**
 * An error as log fields: kind, message, code, stack and causes, and none of its other properties. Drivers and clients
 * hang queries, parameters and requests with headers on their errors, and those hold hashes and tokens.
 */
export function describeError(thrown: unknown, depth = 4): unknown {
  try {
    return describe(thrown, depth)
  } catch {
    return { type: 'unknown', message: 'An error was thrown that cannot be read.' }
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
