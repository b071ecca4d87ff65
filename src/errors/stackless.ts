/**
 * Makes an error without a stack trace, for refusals of the framework itself: nobody reads the stack of a 404, and
 * capturing it is most of its cost. Errors of applications keep theirs.
 */
export function stackless<Args extends unknown[], E extends Error>(
  Kind: new (...args: Args) => E,
  ...args: Args
): E {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return new Kind(...args)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
