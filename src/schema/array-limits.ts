import { brokenRule } from './broken-rule.ts'
import { childPath, Invalid, issueAt } from './invalid.ts'
import { DEFAULT_LIMIT, IssueList } from './issue-list.ts'
import { inputOfStandard, UNDESCRIBED, WITHOUT_GAPS } from './json-schema-standard.ts'
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
 * Schema, one issue for each, and for one with too many items in arrays that have no `maxItems`, or too many keys in
 * records. No function of the validator is called. Maximums of parts with a default (which may replace an invalid value)
 * and of alternatives are left to the library; where it describes nothing, every array and large object counts.
 */
export function arrayLimitsOf(schema: StandardLike): (value: unknown, limit?: number) => Invalid | undefined {
  const find = finderOf(inputOfStandard(schema, WITHOUT_GAPS))
  if (find === undefined) return () => undefined
  return (value, limit = DEFAULT_LIMIT) => {
    const found = { issues: new IssueList(limit), open: new OpenItems() }
    find(value, '', found)
    return found.issues.found.length > 0 ? new Invalid(found.issues.found) : found.open.refusal()
  }
}

function finderOf(schema: unknown, isReplaceable = false): Find {
  if (!isRecord(schema)) return undefined
  if (UNDESCRIBED in schema) return (value, path, { open }) => void open.addAll(value, path)
  const replaceable = isReplaceable || 'default' in schema
  const finds = [
    alternativeFinder(schema.anyOf ?? schema.oneOf, replaceable),
    allFinder(schema.allOf),
    arrayFinder(schema, replaceable),
    objectFinder(schema, replaceable),
  ].filter((find) => find !== undefined)
  if (finds.length < 2) return finds[0]
  return (value, path, found) => {
    for (const find of finds) find(value, path, found)
  }
}

function arrayFinder(schema: Readonly<Record<string, unknown>>, isReplaceable: boolean): Find {
  const { type, maxItems, items, prefixItems } = schema
  if (![type].flat().includes('array')) return undefined
  const most = typeof maxItems === 'number' ? maxItems : Infinity
  const findFirst = Array.isArray(prefixItems) ? prefixItems.map((item) => finderOf(item, isReplaceable)) : []
  const findFurther = finderOf(items, isReplaceable)
  const findAt = (index: number): Find => (index < findFirst.length ? findFirst[index] : findFurther)
  const hasFinders = findFirst.length > 0 || findFurther !== undefined
  const counts = ({ length }: readonly unknown[]): boolean => most === Infinity || length > most
  return (value, path, { issues, open }) => {
    if (!Array.isArray(value)) return
    if (value.length > most && !isReplaceable) {
      issues.add(
        issueAt(
          path,
          brokenRule('max', { max: most }),
          `${path || 'this'} must have at most ${most} items, not ${value.length}`,
        ),
      )
      return
    }
    if ((counts(value) && !open.add(value, path)) || !hasFinders) return
    for (let index = 0; index < value.length && !issues.isFull && open.path === undefined; index++)
      findAt(index)?.(value[index], childPath(path, index), { issues, open })
  }
}

function objectFinder(schema: Readonly<Record<string, unknown>>, isReplaceable: boolean): Find {
  if (![schema.type].flat().includes('object')) return undefined
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const rest = schema.additionalProperties
  const most = typeof schema.maxProperties === 'number' ? schema.maxProperties : Infinity
  // The library validates each further key.
  const isRecordOf = isRecord(rest) && Reflect.ownKeys(rest).length > 0
  const findInRest = finderOf(rest, isReplaceable)
  const finders = Object.entries(properties)
    .map(([key, member]) => [key, finderOf(member, isReplaceable)] as const)
    .filter((entry): entry is [string, NonNullable<Find>] => entry[1] !== undefined)
  if (finders.length === 0 && !isRecordOf) return undefined
  return (value, path, found) => {
    if (!isRecord(value)) return
    for (const [key, find] of finders)
      if (Object.hasOwn(value, key)) find(value[key], childPath(path, key), found)
    if (!isRecordOf) return
    const others = Object.keys(value).filter((key) => !Object.hasOwn(properties, key))
    if (others.length > most || most === Infinity) found.open.addKeys(others, path)
    if (findInRest && found.open.path === undefined)
      for (const key of others) findInRest(value[key], childPath(path, key), found)
  }
}

/**
 * Checks the alternatives that the constants of a value, such as a discriminator, allow. If there are several, their
 * maximums are ignored, and the alternative with the most items in arrays without a maximum counts.
 */
function alternativeFinder(alternatives: unknown, isReplaceable: boolean): Find {
  if (!Array.isArray(alternatives)) return undefined
  const parts = alternatives.filter(isRecord)
  const isAlone = (type: unknown): boolean => parts.filter((part) => part.type === type).length === 1
  return worstOf(parts, (part) => finderOf(part, isReplaceable || !isAlone(part.type)), allows)
}

/** Checks all parts of an intersection. Its library validates the value by each of them. */
function allFinder(parts: unknown): Find {
  if (!Array.isArray(parts)) return undefined
  return worstOf(parts.filter(isRecord), (part) => finderOf(part, true), () => true) // prettier-ignore
}

type Part = Readonly<Record<string, unknown>>

function worstOf(
  parts: readonly Part[],
  finderFor: (part: Part) => Find,
  applies: (part: Part, value: unknown) => boolean,
): Find {
  const finders = parts
    .map((part) => ({ part, find: finderFor(part) }))
    .filter((one): one is { part: Part; find: NonNullable<Find> } => one.find !== undefined)
  if (finders.length === 0) return undefined
  return (value, path, { issues, open }) => {
    const counts = finders
      .filter(({ part }) => applies(part, value))
      .map(({ find }) => {
        const own = open.copy()
        find(value, path, { issues, open: own })
        return own
      })
    for (const count of counts) open.raise(count)
  }
}

function allows({ properties }: Part, value: unknown): boolean {
  if (!isRecord(properties) || !isRecord(value)) return true
  return Object.entries(properties).every(
    ([key, member]) => !isRecord(member) || !('const' in member) || member.const === value[key],
  )
}
