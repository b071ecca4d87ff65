import { childPath, Invalid, issueAt } from '../invalid.ts'
import { oncePerSchema } from '../once.ts'
import { lengthLimits } from './passes.ts'
import { isConditional, isRecord, isYup, itemSchema, type YupNode } from '../../compat/yup.ts'

/**
 * Most items that all arrays without a maximum of their own have together, where a schema library validates each: it
 * takes ten microseconds and more for an item, so that a body of 1 MiB would block the process for seconds.
 */
const MOST_OPEN_ITEMS = 2_000

/** Counts the items of arrays whose schema names no maximum. */
export class OpenItems {
  /** Path of the array with which they were too many. */
  path: string | undefined = undefined
  #left = MOST_OPEN_ITEMS

  /** False when there are too many. */
  add({ length }: readonly unknown[], path: string): boolean {
    this.#left -= length
    if (this.#left < 0) this.path ??= path
    return this.#left >= 0
  }

  /** A count that goes on from here. */
  copy(): OpenItems {
    const copy = new OpenItems()
    copy.#left = this.#left
    copy.path = this.path
    return copy
  }

  /** Takes over the count of a copy that found more. */
  raise(copy: OpenItems): void {
    this.#left = Math.min(this.#left, copy.#left)
    this.path ??= copy.path
  }

  /** The issue of too many items; undefined when there are none too many. */
  refusal(): Invalid | undefined {
    if (this.path === undefined) return undefined
    const rule = `arrays without a maximum have at most ${MOST_OPEN_ITEMS} items together`
    return new Invalid([issueAt(this.path, `${this.path || 'this'} has too many items: ${rule}`)])
  }
}

/**
 * Returns a function that gives an `Invalid` for a value with too many items in arrays without a `max()`. What is behind
 * `lazy()` and `when()` counts as such: it is known only to yup.
 */
export function openArraysOf(schema: YupNode): (value: unknown) => Invalid | undefined {
  return (value) => {
    const open = new OpenItems()
    countBy(schema, { value, path: '' }, open)
    return open.refusal()
  }
}

interface Place {
  readonly value: unknown
  readonly path: string
}

function countBy(schema: unknown, { value, path }: Place, open: OpenItems): boolean {
  if (typeof value !== 'object' || value === null || !isYup(schema)) return true
  if (schema.type === 'lazy' || isConditional(schema)) return countAll({ value, path }, open)
  if (Array.isArray(value)) return countItems(schema, { value, path }, open)
  if (!isRecord(value) || schema.fields === undefined) return true
  for (const [key, field] of Object.entries(schema.fields))
    if (Object.hasOwn(value, key) && !countBy(field, { value: value[key], path: childPath(path, key) }, open))
      return false
  return true
}

function countItems(
  schema: YupNode,
  { value: items, path }: Place & { readonly value: readonly unknown[] },
  open: OpenItems,
): boolean {
  if (schema.type !== 'array' && schema.type !== 'tuple') return true
  if (schema.type === 'array' && hasNoMaximum(schema) && !open.add(items, path)) return false
  return items.every((value, index) =>
    countBy(itemSchema(schema, index), { value, path: childPath(path, index) }, open),
  )
}

const hasNoMaximum = oncePerSchema((schema: YupNode) => lengthLimits(schema).most === Infinity)

/** Values that are nested more deeply are refused when they are validated. */
const DEEPEST = 100

function countAll({ value, path }: Place, open: OpenItems, depth = DEEPEST): boolean {
  if (depth === 0) return true
  if (Array.isArray(value))
    return (
      open.add(value, path) &&
      value.every((item: unknown, index) =>
        countAll({ value: item, path: childPath(path, index) }, open, depth - 1),
      )
    )
  if (!isRecord(value)) return true
  return Object.keys(value).every((key) =>
    countAll({ value: value[key], path: childPath(path, key) }, open, depth - 1),
  )
}
