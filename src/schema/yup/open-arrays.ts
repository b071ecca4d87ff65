import { childPath, Invalid, issueAt } from '../invalid.ts'
import { oncePerSchema } from '../once.ts'
import { lengthLimits } from './passes.ts'
import { isConditional, isRecord, isYup, itemSchema, type YupNode } from '../../compat/yup.ts'

/**
 * Maximum number of items of all arrays without their own maximum together, if a schema library validates each item. A
 * library needs ten microseconds or more per item, so a body of 1 MiB would block the process for seconds.
 */
const MOST_OPEN_ITEMS = 2_000

/** Counts the items of arrays whose schema has no maximum. */
export class OpenItems {
  /** Path of the array that exceeded the maximum. */
  path: string | undefined = undefined
  #left = MOST_OPEN_ITEMS

  /** False when there are too many. */
  add({ length }: readonly unknown[], path: string): boolean {
    this.#left -= length
    if (this.#left < 0) this.path ??= path
    return this.#left >= 0
  }

  /** Returns a copy that continues from this count. */
  copy(): OpenItems {
    const copy = new OpenItems()
    copy.#left = this.#left
    copy.path = this.path
    return copy
  }

  /** Adopts the count of a copy that found more. */
  raise(copy: OpenItems): void {
    this.#left = Math.min(this.#left, copy.#left)
    this.path ??= copy.path
  }

  /** Returns the issue of too many items, or undefined. */
  refusal(): Invalid | undefined {
    if (this.path === undefined) return undefined
    const rule = `arrays without a maximum have at most ${MOST_OPEN_ITEMS} items together`
    return new Invalid([issueAt(this.path, `${this.path || 'this'} has too many items: ${rule}`)])
  }
}

/**
 * Returns a function that returns an `Invalid` for a value with too many items in arrays without a `max()`. Arrays
 * behind `lazy()` and `when()` count too, because only yup knows their schema.
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

/** Maximum depth of the search. The validation refuses values with a deeper nesting. */
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
