import { OwnObject } from '../../support/own-object.ts'
import { brokenRule } from '../broken-rule.ts'
import { Invalid, issueAt } from '../invalid.ts'
import {
  isConditional,
  isInheritedName,
  isObject,
  isRecord,
  isYup,
  itemSchema,
  type YupNode,
} from '../../compat/yup.ts'

const DEEPEST = 100
const TOO_DEEP = 'is nested too deeply'
const MAX_DEPTH = brokenRule('maxDepth', { maxDepth: DEEPEST })

/**
 * Returns an `Invalid` for a value that must not be passed to a schema library, or undefined. Libraries recurse and print
 * without a limit, and a parsed request can be nested a hundred thousand levels deep.
 */
export function refuseUnfit(value: unknown): Invalid | undefined {
  const flaw = flawOf(value, DEEPEST, new Set(), new Set())
  return flaw === undefined
    ? undefined
    : new Invalid([issueAt('', flaw === TOO_DEEP ? MAX_DEPTH : { rule: 'type' }, `this ${flaw}`)])
}

function flawOf(value: unknown, depth: number, above: Set<unknown>, seen: Set<unknown>): string | undefined {
  if (typeof value === 'bigint') return 'holds a bigint'
  if (!Array.isArray(value) && !isRecord(value)) return undefined
  if (above.has(value)) return 'refers to itself'
  if (depth === 0) return TOO_DEEP
  if (seen.has(value)) return undefined
  seen.add(value)
  above.add(value)
  for (const member of Object.values(value)) {
    const flaw = flawOf(member, depth - 1, above, seen)
    if (flaw !== undefined) return flaw
  }
  above.delete(value)
  return undefined
}

/**
 * The value as yup 1.7.1 can read it: without undeclared own keys named like a member of `Object.prototype`
 * (`constructor`, `toString`, `__proto__`), on which it throws a raw TypeError, and with nothing inherited under a
 * declared key of such a name. A copy where something changes, else the value itself.
 */
export function withoutInheritedKeys(schema: unknown, value: unknown, parent?: unknown): unknown {
  if (!isYup(schema)) return value
  const isDynamic = schema.type === 'lazy' || isConditional(schema)
  const resolved = isDynamic ? resolvedOf(schema, value, parent) : schema
  if (resolved === undefined) return withoutAnyInheritedKeys(value)
  if (Array.isArray(value))
    return mapItems(value, (item, index) => withoutInheritedKeys(itemSchema(resolved, index), item, value))
  if (!isObject(value) || (resolved.fields === undefined && !isDynamic)) return value
  return readableMembers(resolved.fields ?? {}, value, isDynamic)
}

function readableMembers(
  fields: Readonly<Record<string, unknown>>,
  value: Record<string, unknown>,
  isDynamic: boolean,
): unknown {
  const mapped = mapMembers(
    value,
    (key) => Object.hasOwn(fields, key),
    (member, key) => {
      if (Object.hasOwn(fields, key)) return withoutInheritedKeys(fields[key], member, value)
      // A dynamic schema may resolve to another one after yup has cast the values on which it depends.
      return isDynamic ? withoutAnyInheritedKeys(member) : member
    },
  )
  const inherits = Object.keys(fields).some((key) => isInheritedName(key) && !Object.hasOwn(mapped, key))
  return inherits && isInheriting(mapped) ? Object.assign(new OwnObject(), mapped) : mapped
}

function resolvedOf(schema: YupNode, value: unknown, parent: unknown): YupNode | undefined {
  try {
    const resolved = schema.resolve({ value, parent })
    return isYup(resolved) && resolved.type !== 'lazy' ? resolved : undefined
  } catch {
    // An error of the application's own function is thrown again when yup calls it.
    return undefined
  }
}

function isInheriting(value: object): boolean {
  return 'toString' in value
}

function withoutAnyInheritedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return mapItems(value, withoutAnyInheritedKeys)
  if (!isRecord(value)) return value
  return mapMembers(value, () => false, withoutAnyInheritedKeys)
}

/** Maps the items of an array; returns the array itself if no item changes. */
export function mapItems(
  items: readonly unknown[],
  map: (item: unknown, index: number) => unknown,
): readonly unknown[] {
  const mapped = items.map(map)
  return mapped.every((item, index) => item === items[index]) ? items : mapped
}

/**
 * Maps the members of an object and drops the keys that every object inherits unless `declares` says otherwise; returns
 * the object itself if nothing changes.
 */
export function mapMembers(
  value: Record<string, unknown>,
  declares: (key: string) => boolean,
  map: (member: unknown, key: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(value)
  const kept = entries
    .filter(([key]) => !isInheritedName(key) || declares(key))
    .map(([key, member]) => [key, map(member, key)] as const)
  const same = kept.length === entries.length && kept.every(([key, member]) => Object.is(member, value[key]))
  return same ? value : Object.fromEntries(kept)
}
