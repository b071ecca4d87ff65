import { childPath, Invalid, issueAt } from './invalid.ts'
import { DEFAULT_LIMIT, IssueList } from './issue-list.ts'
import { inputOfStandard } from './json-schema-standard.ts'
import { OpenItems } from './yup/open-arrays.ts'
import type { StandardLike } from './schema.ts'
import { isRecord } from '../compat/yup.ts'

interface Found {
  readonly issues: IssueList
  readonly open: OpenItems
}

/** Finds the arrays of a value that are too long; undefined if there is nothing to check. */
type Find = ((value: unknown, path: string, found: Found) => void) | undefined

/**
 * Returns a function that returns an `Invalid` for a value with arrays above the `maxItems` of the validator's own JSON
 * Schema, one issue for each, and for one with too many items in arrays that have no `maxItems`. Parts with a default
 * (which may replace an invalid value), intersections and the inside of a recursion are left to the library.
 */
export function arrayLimitsOf(schema: StandardLike): (value: unknown, limit?: number) => Invalid | undefined {
  const find = finderOf(inputOfStandard(schema))
  if (find === undefined) return () => undefined
  return (value, limit = DEFAULT_LIMIT) => {
    const found = { issues: new IssueList(limit), open: new OpenItems() }
    find(value, '', found)
    return found.issues.found.length > 0 ? new Invalid(found.issues.found) : found.open.refusal()
  }
}

function finderOf(schema: unknown, isReplaceable = false): Find {
  if (!isRecord(schema)) return undefined
  const replaceable = isReplaceable || 'default' in schema
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) return alternativeFinder(alternatives, replaceable)
  if (schema.type === 'array') return arrayFinder(schema, replaceable)
  return schema.type === 'object' ? objectFinder(schema, replaceable) : undefined
}

function arrayFinder({ maxItems, items }: Readonly<Record<string, unknown>>, isReplaceable: boolean): Find {
  const most = typeof maxItems === 'number' ? maxItems : Infinity
  const findInItem = finderOf(items, isReplaceable)
  const counts = ({ length }: readonly unknown[]): boolean => most === Infinity || length > most
  return (value, path, { issues, open }) => {
    if (!Array.isArray(value)) return
    const isTooLong = value.length > most
    if (isTooLong && !isReplaceable)
      issues.add(issueAt(path, `${path || 'this'} must have at most ${most} items, not ${value.length}`))
    else if ((!counts(value) || open.add(value, path)) && findInItem)
      for (let index = 0; index < value.length && !issues.isFull && open.path === undefined; index++)
        findInItem(value[index], childPath(path, index), { issues, open })
  }
}

function objectFinder(schema: Readonly<Record<string, unknown>>, isReplaceable: boolean): Find {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const findInRest = finderOf(schema.additionalProperties, isReplaceable)
  const finders = Object.entries(properties)
    .map(([key, member]) => [key, finderOf(member, isReplaceable)] as const)
    .filter((entry): entry is [string, NonNullable<Find>] => entry[1] !== undefined)
  if (finders.length === 0 && findInRest === undefined) return undefined
  return (value, path, found) => {
    if (!isRecord(value)) return
    for (const [key, find] of finders)
      if (Object.hasOwn(value, key)) find(value[key], childPath(path, key), found)
    if (findInRest)
      for (const key of Object.keys(value))
        if (!Object.hasOwn(properties, key)) findInRest(value[key], childPath(path, key), found)
  }
}

/**
 * Checks the alternatives that the constants of a value, such as a discriminator, allow. If there are several, their
 * maximums are ignored, and the alternative with the most items in arrays without a maximum counts.
 */
function alternativeFinder(alternatives: readonly unknown[], isReplaceable: boolean): Find {
  const parts = alternatives.filter(isRecord)
  const isAlone = (type: unknown): boolean => parts.filter((part) => part.type === type).length === 1
  const finders = parts
    .map((part) => ({ part, find: finderOf(part, isReplaceable || !isAlone(part.type)) }))
    .filter((one): one is { part: (typeof parts)[number]; find: NonNullable<Find> } => one.find !== undefined)
  if (finders.length === 0) return undefined
  return (value, path, { issues, open }) => {
    const counts = finders
      .filter(({ part }) => allows(part, value))
      .map(({ find }) => {
        const own = open.copy()
        find(value, path, { issues, open: own })
        return own
      })
    for (const count of counts) open.raise(count)
  }
}

function allows({ properties }: Readonly<Record<string, unknown>>, value: unknown): boolean {
  if (!isRecord(properties) || !isRecord(value)) return true
  return Object.entries(properties).every(
    ([key, member]) => !isRecord(member) || !('const' in member) || member.const === value[key],
  )
}
