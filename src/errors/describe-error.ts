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
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: describeThrown(thrown) }
  const { code } = thrown as { code?: unknown }
  return {
    type: classOf(thrown),
    message: thrown.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: thrown.stack,
    ...(thrown.cause === undefined || depth === 0 ? {} : { cause: describeError(thrown.cause, depth - 1) }),
  }
}

/** The name of an error; of a class that sets none (`class Missing extends Error {}`) the name of the class. */
function classOf({ name, constructor }: Error): string {
  return name === 'Error' && constructor.name !== '' ? constructor.name : name
}

/** Most characters of a thrown string in the log. */
const LONGEST = 1000

/**
 * Describes a thrown value that is not an Error: a string with its text, an object by its `message` or the names of its
 * keys. The values of other keys may be secrets.
 */
export function describeThrown(thrown: unknown): string {
  const found = thrownText(thrown)
  return `A value that is not an Error was thrown: ${found} Throw an Error, or an HttpError to set the status.`
}

function thrownText(thrown: unknown): string {
  if (typeof thrown === 'string') return `${JSON.stringify(thrown.slice(0, LONGEST))}.`
  if (typeof thrown === 'function')
    return `the function ${thrown.name || 'without a name'}; of a class throw an instance.`
  if (typeof thrown !== 'object' || thrown === null) return `${String(thrown)}.`
  const { message } = thrown as { readonly message?: unknown }
  if (typeof message === 'string') return `an object with the message ${thrownText(message)}`
  const keys = Object.keys(thrown)
  return keys.length === 0 ? 'an object.' : `an object with the keys ${keys.slice(0, 10).join(', ')}.`
}
