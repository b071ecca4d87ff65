import { brokenRule } from '../broken-rule.ts'
import { childPath, Invalid, issueAt } from '../invalid.ts'
import { oncePerObject } from '../../support/once.ts'
import { lengthLimits } from './passes.ts'
import { isConditional, isRecord, isYup, itemSchema, type YupNode } from '../../compat/yup.ts'

/**
 * Maximum number of items of all arrays without their own maximum together, if a schema library validates each item. A
 * library needs ten microseconds or more per item, so a body of 1 MiB would block the process for seconds.
 */
const MOST_OPEN_ITEMS = 2_000

/** An object with more keys that its schema does not name is counted like an array of its values. */
const MOST_FREE_KEYS = 100

/** Counts the items of arrays whose schema has no maximum, and the keys of large objects whose schema names no keys. */
export class OpenItems {
  /** Path of the array or object that exceeded the maximum. */
  path: string | undefined = undefined
  #left = MOST_OPEN_ITEMS

  /** False when there are too many. */
  add({ length }: readonly unknown[], path: string): boolean {
    this.#left -= length
    if (this.#left < 0) this.path ??= path
    return this.#left >= 0
  }

  /** Counts the keys of an object that has many. */
  addKeys(keys: readonly string[], path: string): boolean {
    return keys.length <= MOST_FREE_KEYS || this.add(keys, path)
  }

  /** Counts every array and every large object at all depths, for a part whose schema only its library knows. */
  addAll(value: unknown, path: string, depth = DEEPEST): boolean {
    if (depth === 0) return true
    if (Array.isArray(value))
      return (
        this.add(value, path) &&
        value.every((item, index) => this.addAll(item, childPath(path, index), depth - 1))
      )
    if (!isRecord(value)) return true
    const keys = Object.keys(value)
    return (
      this.addKeys(keys, path) &&
      keys.every((key) => this.addAll(value[key], childPath(path, key), depth - 1))
    )
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
    const issue = brokenRule('maxItems', { maxItems: MOST_OPEN_ITEMS })
    return new Invalid([issueAt(this.path, issue, `${this.path || 'this'} has too many items: ${rule}`)])
  }
}

/** Maximum depth of the search. The validation refuses values with a deeper nesting. */
const DEEPEST = 100

/**
 * Returns a function that returns an `Invalid` for a value with too many items in arrays without a `max()`. Arrays and
 * large objects behind `lazy()` and `when()` count too, because only yup knows their schema. No function of the schema
 * is called.
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
  if (schema.type === 'lazy' || isConditional(schema)) return open.addAll(value, path)
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

const hasNoMaximum = oncePerObject((schema: YupNode) => lengthLimits(schema).most === Infinity)
