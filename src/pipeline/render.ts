import { Readable } from 'node:stream'
import { isBodiless, type Outgoing } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'
import { isRouter } from '../routing/router.ts'
import { findUnsendable, jsonText, unsendableError, unsendableObject } from '../schema/unsendable.ts'
import { isClass } from '../support/describe-value.ts'
import { ignore } from '../support/ignore.ts'
import { isLiteral, renderRaw } from './render-raw.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
export const TEXT_TYPE = 'text/plain; charset=utf-8'

/**
 * Renders a value without a schema: objects, arrays, numbers and booleans as JSON, strings as `text/plain` (never
 * detected as HTML), bytes and streams unchanged.
 * @throws TypeError for a value without a representation (a function, a symbol, a bigint, a circular object).
 */
export function render(ctx: RequestContext, status: number, value: unknown): Outgoing {
  if (isBodiless(status) || value === undefined || value === null)
    return { status, type: undefined, payload: discard(value) }
  if (typeof value === 'object') return renderObject(ctx, status, value)
  if (typeof value === 'string') return { status, type: TEXT_TYPE, payload: value }
  if (typeof value === 'number' || typeof value === 'boolean')
    return { status, type: JSON_TYPE, payload: JSON.stringify(value) }
  throw unsendableError({ path: '', ...describeUnsendable(value) })
}

function describeUnsendable(value: unknown): { readonly kind: string; readonly remedy: string } {
  if (typeof value === 'bigint') return { kind: 'a bigint', remedy: 'Convert it to a string or a number.' }
  if (typeof value === 'symbol') return { kind: 'a symbol', remedy: 'Return a value of another type.' }
  if (isClass(value)) {
    const { name } = value as { readonly name: string }
    const isError = (value as { readonly prototype: unknown }).prototype instanceof Error
    return {
      kind: `the class ${name}`,
      remedy: isError ? `Throw an instance: throw new ${name}().` : 'Return a value of another type.',
    }
  }
  return {
    kind: 'a function',
    remedy:
      'Call it and return its result. Middleware that returns a function is a factory: call the factory.',
  }
}

function renderObject(ctx: RequestContext, status: number, value: object): Outgoing {
  if (!isLiteral(value)) {
    const raw = renderRaw(ctx, status, value)
    if (raw) return raw
    refuseUnsendable(value)
  }
  return { status, type: JSON_TYPE, payload: jsonText(value) }
}

/** @throws TypeError for a Map, a generator and other objects that JSON would write as `{}`. */
export function refuseUnsendable(value: object): void {
  const found = unsendableObject(value)
  if (found !== undefined) throw unsendableError({ path: '', ...found })
}

/**
 * Like `render`, but also refuses values inside that JSON would hide. Outside production only: it reads the whole
 * value.
 */
export function renderThoroughly(ctx: RequestContext, status: number, value: unknown): Outgoing {
  const outgoing = render(ctx, status, value)
  if (isRouter(value))
    throw unsendableError({ path: '', kind: 'a router', remedy: 'Pass the router itself to use().' })
  if (outgoing.type === JSON_TYPE) refuseHidden(value)
  return outgoing
}

/** @throws TypeError for a Map, a Promise or a similar object anywhere inside the value, or in the keys of `schema`. */
export function refuseHidden(value: unknown, schema?: unknown): void {
  const found = findUnsendable(value, schema)
  if (found !== undefined) throw unsendableError(found)
}

/** Closes a stream that is not sent, to release its source. */
export function discard(value: unknown): null {
  if (typeof value !== 'object' || value === null) return null
  if (value instanceof Readable) value.once('error', ignore).destroy()
  // As in `renderRaw`.
  if (!(Symbol.toStringTag in value)) return null
  const web = value instanceof Response ? value.body : value
  if (web instanceof ReadableStream && !web.locked) web.cancel().catch(ignore)
  return null
}
