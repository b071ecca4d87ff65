import { isoText, readIsoDate } from '../../support/iso-date.ts'
import { OwnObject } from '../../support/own-object.ts'
import { isInheritedName, isRecord, isYup, itemSchema, ownMember, type YupNode } from '../../compat/yup.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Returns the JSON form of a value, filtered by a yup schema: only declared keys, `toJSON` applied, dates of `date()`
 * fields as `Date`, defaults for absent values, NaN for numbers that JSON cannot express. Does not validate.
 */
export function jsonView(schema: unknown, value: unknown, parent?: unknown): unknown {
  if (!isYup(schema)) return value
  const resolved = schema.resolve({ value, parent })
  const present = value === undefined && resolved.spec.default !== undefined ? resolved.getDefault() : value
  if (resolved.type === 'date') return readIsoDate(present) ?? present
  const shown = ownJson(present)
  if (resolved.type === 'number')
    return typeof shown === 'number' && !Number.isFinite(shown) ? Number.NaN : shown
  return typeof shown === 'object' && shown !== null ? contentsOf(resolved, shown) : shown
}

function contentsOf(schema: YupNode, value: object): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => jsonView(itemSchema(schema, index), item, value))
  return schema.fields ? membersOf(schema, value as Members) : value
}

/** The view with its dates as ISO strings. */
export function withIsoDates(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : isoText(value)
  if (Array.isArray(value)) return 'toJSON' in value ? value : value.map(withIsoDates)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withIsoDates(member)]))
}

/** Returns the value that `JSON.stringify` would use: the value, or the result of its `toJSON`. */
export function ownJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value, '') as unknown) : value
}

function membersOf({ fields = {} }: YupNode, value: Members): Members {
  const members = Object.entries(fields)
    .map(([key, field]) => [key, jsonView(field, ownMember(value, key), value)] as const)
    .filter(([key, member]) => member !== undefined && !isStripped(fields[key]))
  const shown = Object.fromEntries(members)
  // yup reads absent members too, and must not find inherited members.
  return Object.keys(fields).some(isInheritedName) ? Object.assign(new OwnObject(), shown) : shown
}

function isStripped(field: unknown): boolean {
  return isYup(field) && field.spec.strip === true
}
