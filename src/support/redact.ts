import { classOf } from '../errors/describe-error.ts'
import { isObject } from './describe-value.ts'
import { isSecretName, REDACTED, redactText } from './redact-text.ts'

/** Maximum nesting of objects in a log line. */
const DEEPEST = 10
/** Maximum values of one line: a cycle of getters or a huge list must not block the process. */
const MOST_VALUES = 20_000

interface Walk {
  readonly ancestors: Set<object>
  values: number
}

/**
 * Copies a value for a log line, without secrets at any depth: members with a secret name (`isSecretName`), entries of
 * maps and headers, and credentials inside strings. Objects with `toJSON` are shown by its result, requests as method,
 * URL and headers, other streams and sockets by their class name.
 */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  return typeof value !== 'object' || value === null
    ? value
    : copy(value, { ancestors: new Set(), values: 0 })
}

/** Redacts the fields of a log line. */
export function redactFields(fields: object): Record<string, unknown> {
  const shown = redact(fields)
  return isObject(shown) ? shown : { value: shown }
}

function copy(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (walk.ancestors.has(value)) return '[circular]'
  if (walk.ancestors.size >= DEEPEST || (walk.values += 1) > MOST_VALUES) return '[not shown]'
  walk.ancestors.add(value)
  try {
    return copyObject(value, walk)
  } catch {
    return '[unreadable]'
  } finally {
    walk.ancestors.delete(value)
  }
}

function copyObject(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return copyList(value, walk)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    const special = copySpecial(value, walk)
    if (special !== NOT_SPECIAL) return special
  }
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') return copy(toJSON.call(value), walk)
  const shown: Record<string, unknown> = {}
  // The body of change-password. Elsewhere `next` may be a page.
  const keys = Object.keys(value)
  if (keys.length === 2 && keys.includes('current') && keys.includes('next'))
    return { current: REDACTED, next: REDACTED }
  for (const key of keys) show(shown, key, (value as Record<string, unknown>)[key], walk)
  return shown
}

const NOT_SPECIAL = Symbol('not special')

function copySpecial(value: object, walk: Walk): unknown {
  if (value instanceof Date) return value
  if (value instanceof Error) return copyError(value, walk)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof Map) return copyEntries([...value], walk)
  if (value instanceof Set) return copyList([...value], walk)
  if (isListed(value)) return copyEntries([...value.entries()], walk)
  const { rawHeaders, method, url, headers, on } = value as Record<string, unknown>
  if (Array.isArray(rawHeaders)) return copyEntries(Object.entries({ method, url, headers }), walk)
  if (typeof on === 'function' && !('toJSON' in value)) return `[${value.constructor.name}]`
  return NOT_SPECIAL
}

interface Listed {
  entries(): Iterable<[unknown, unknown]>
}

/** Detects Headers, URLSearchParams and FormData without reading the globals, which would load Node's fetch. */
function isListed(value: object): value is Listed {
  const tag = (value as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
  return tag === 'Headers' || tag === 'URLSearchParams' || tag === 'FormData'
}

function copyEntries(entries: Iterable<readonly [unknown, unknown]>, walk: Walk): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [key, value] of entries) show(shown, String(key), value, walk)
  return shown
}

function show(shown: Record<string, unknown>, name: string, given: unknown, walk: Walk): void {
  const value = isSecretName(name) && isSecretValue(given) ? REDACTED : copy(given, walk)
  if (name !== '__proto__') shown[name] = value
  // An assignment would set the prototype.
  else Object.defineProperty(shown, name, { value, enumerable: true, configurable: true, writable: true })
}

/** A count such as `tokens: 5` is not a secret, nor is a flag such as `password: true`. */
function isSecretValue(value: unknown): boolean {
  return (
    typeof value === 'string' || (typeof value === 'object' && value !== null) || typeof value === 'bigint'
  )
}

/** Handles `['Authorization', 'Bearer …']` as in `rawHeaders` and pairs: the name precedes its value. */
function copyList(list: readonly unknown[], walk: Walk): unknown[] {
  return list.map((value, index) => {
    const before = list[index - 1]
    const isSecret = typeof value === 'string' && typeof before === 'string' && isSecretName(before)
    return isSecret ? REDACTED : copy(value, walk)
  })
}

/** Copies name, message, code, stack and cause, then other properties that a driver or client adds to its errors. */
function copyError(error: Error, walk: Walk): Record<string, unknown> {
  const { message, stack, cause } = error
  return {
    type: classOf(error),
    message: redactText(message),
    ...(stack === undefined ? {} : { stack: redactText(stack) }),
    ...(cause === undefined ? {} : { cause: copy(cause, walk) }),
    ...copyEntries(
      Object.entries(error).filter(([key]) => !['name', 'message', 'stack', 'cause'].includes(key)),
      walk,
    ),
  }
}
