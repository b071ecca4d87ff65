import { childPath } from './invalid.ts'
import { ownMember } from '../compat/yup.ts'

/** A part of a value that JSON cannot express: its path, its kind and the remedy. */
export interface Unsendable {
  readonly path: string
  readonly kind: string
  readonly remedy: string
}

const BYTES = "Return it alone, or as text: Buffer.from(bytes).toString('base64')."

/** Remedies for objects that JSON shows as `{}` or by their index, by the tag from `Object.prototype.toString`. */
const REMEDIES: Readonly<Record<string, string>> = {
  Map: 'Return Object.fromEntries(map), or an array of its entries.',
  Set: 'Return an array: [...set].',
  WeakMap: 'Its entries cannot be listed.',
  WeakSet: 'Its items cannot be listed.',
  WeakRef: 'Return what it refers to.',
  Promise: 'Await it first.',
  URLSearchParams: 'Return its toString(), with ctx.type.',
  FormData: 'Return Object.fromEntries(form).',
  Headers: 'Return Object.fromEntries(headers).',
  RegExp: 'Return its source.',
  Error: 'Throw it, or return its message.',
  Uint8Array: BYTES,
  ArrayBuffer: BYTES,
  Blob: 'Return it alone, not inside another value.',
  File: 'Return it alone, not inside another value.',
  ReadableStream: 'Return it alone, not inside another value.',
  Response: 'Return it alone, not inside another value.',
}

/**
 * Returns the kind of an object that JSON cannot express at all; undefined for all others and for objects with
 * `toJSON`.
 */
export function unsendableObject(value: object): Omit<Unsendable, 'path'> | undefined {
  const { toJSON, then, next } = value as Readonly<Record<string, unknown>>
  if (typeof toJSON === 'function') return undefined
  if (typeof then === 'function') return kindOf('Promise')
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  if (Object.hasOwn(REMEDIES, tag)) return kindOf(tag)
  if (typeof next === 'function' && (Symbol.iterator in value || Symbol.asyncIterator in value))
    return { kind: 'an iterator', remedy: 'Return an array: [...iterator].' }
  return undefined
}

function kindOf(tag: string): Omit<Unsendable, 'path'> {
  return { kind: /^[AEIO]/.test(tag) ? `an ${tag}` : `a ${tag}`, remedy: REMEDIES[tag]! }
}

/** Number of members after which a search gives up. */
const MOST_MEMBERS = 10_000

/**
 * Finds the first part of a value that JSON cannot express: a bigint, a cycle, a Map, a Promise that was not awaited.
 * With a yup schema only the keys that it declares are searched. Functions are left out as JSON does.
 */
export function findUnsendable(value: unknown, schema?: unknown): Unsendable | undefined {
  return search(value, schema, { path: '', above: new Set(), budget: { left: MOST_MEMBERS } })
}

/** Makes the error for a value with such a part. */
export function unsendableError({ path, kind, remedy }: Unsendable, cause?: unknown): TypeError {
  const what = path === '' ? 'it' : path
  return new UnsendableError(`cannot be sent as JSON: ${what} is ${kind}. ${remedy}`, cause)
}

class UnsendableError extends TypeError {
  override readonly name = 'TypeError'
  readonly fault: string

  constructor(fault: string, cause: unknown, subject = 'The returned value') {
    super(`${subject} ${fault}`, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}

/** Names the route in the error for a value that JSON cannot express; returns any other error unchanged. */
export function namingRoute(error: unknown, route: string): unknown {
  if (!(error instanceof UnsendableError)) return error
  return new UnsendableError(error.fault, error.cause, `The value that ${route} returned`)
}

/** Returns the JSON text of a value. @throws TypeError that names the part that JSON cannot express. */
export function jsonText(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    const found = findUnsendable(value)
    throw found ? unsendableError(found, error) : error
  }
  if (text === undefined)
    throw new TypeError('The returned value cannot be sent as JSON: it has no JSON form.')
  return text
}

interface Place {
  readonly path: string
  readonly above: Set<unknown>
  readonly budget: { left: number }
}

function search(value: unknown, schema: unknown, place: Place): Unsendable | undefined {
  const { path, above, budget } = place
  if (typeof value === 'bigint')
    return { path, kind: 'a bigint', remedy: 'Convert it to a string or a number.' }
  if (typeof value !== 'object' || value === null || (budget.left -= 1) < 0) return undefined
  const kind = unsendableObject(value)
  if (kind !== undefined) return { path, ...kind }
  if (above.has(value))
    return {
      path,
      kind: 'a reference to an object that contains it',
      remedy: 'Leave it out, or return its id.',
    }
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined
  above.add(value)
  for (const [key, member, inner] of membersOf(value, schema)) {
    const found = search(member, inner, { ...place, path: childPath(path, key) })
    if (found !== undefined) return found
  }
  above.delete(value)
  return undefined
}

type Member = readonly [key: string | number, value: unknown, schema: unknown]

function membersOf(value: object, schema: unknown): readonly Member[] {
  const { fields, innerType } = (schema ?? {}) as { fields?: Record<string, unknown>; innerType?: unknown }
  if (Array.isArray(value)) return value.slice(0, MOST_MEMBERS).map((item, index) => [index, item, innerType])
  const members = value as Record<string, unknown>
  const keys = Object.keys(fields ?? members)
  return keys.map((key) => [key, ownMember(members, key), fields?.[key]])
}
