/**
 * Makes an error without a stack trace, for refusals of the framework itself: nobody reads the stack of a 404, and
 * capturing it is most of its cost. Errors of applications keep theirs.
 */
export function stackless<E extends Error>(make: () => E): E {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return make()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
