import { types } from 'node:util'

/**
 * Converts an error into log fields: kind, message, code, stack and causes. All other properties are left out, because
 * drivers and clients attach queries, parameters and request headers, which contain hashes and tokens.
 */
export function describeError(
  thrown: unknown,
  depth = 4,
): { readonly type: string; readonly message: string } {
  try {
    return describe(thrown, depth)
  } catch {
    return { type: 'unknown', message: 'An error that cannot be read was thrown.' }
  }
}

function describe(thrown: unknown, depth: number) {
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
export function classOf({ name, constructor }: Error): string {
  return name === 'Error' && constructor.name !== '' ? constructor.name : name
}

/** Most characters of a thrown string in the log. */
const LONGEST = 1000

/**
 * Describes a thrown value that is not an Error: a string with its text, an object by its `message` or the names of its
 * keys. The values of other keys may be secrets.
 */
export function describeThrown(thrown: unknown): string {
  return `A value that is not an Error was thrown: ${thrownText(thrown)} Throw an Error, or an HttpError to set the status.`
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

/** Classes of the framework for messages of plain errors, which other frameworks map to a status. */
const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:not found|no such \w+|does not exist)\b/i, 'NotFound (404)'],
  [/\b(?:unauthori[sz]ed|not logged in|unauthenticated)\b/i, 'Unauthorized (401)'],
  [/\b(?:forbidden|not allowed|permission denied)\b/i, 'Forbidden (403)'],
  [/\b(?:bad request|invalid (?:input|request))\b/i, 'BadRequest (400)'],
]

/**
 * Returns a hint for `throw new Error('not found')`, which is a 500: the class of the framework that sets the status.
 * Also for an error with a `status` or `statusCode`, which other frameworks send and this one ignores. Undefined for an error of a class, such as a driver's, and for any other message.
 */
export function statusHint(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { status, statusCode = status } = thrown as {
    readonly status?: unknown
    readonly statusCode?: unknown
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600 && statusCode !== 500)
    return `The status ${statusCode} of this error is ignored. To set the status, throw an HttpError of mortar, such as NotFound (404).`
  if (thrown.constructor !== Error || 'code' in thrown) return undefined
  const found = CLASSES.find(([pattern]) => pattern.test(thrown.message))
  return found && `A plain Error is a 500. To set the status, throw ${found[1]} of mortar.`
}

/**
 * True for an error, including one of another realm (node:vm, jest), which is not an instance of this realm's class. False for
 * a proxy, whose traps may throw.
 */
export function isError(thrown: unknown): thrown is Error {
  return !types.isProxy(thrown) && (thrown instanceof Error || types.isNativeError(thrown))
}
