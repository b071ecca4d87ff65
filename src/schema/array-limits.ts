import { childPath, Invalid, issueAt } from './invalid.ts'
import { DEFAULT_LIMIT, IssueList } from './issue-list.ts'
import { jsonSchemaOf } from './json-schema.ts'
import type { StandardLike } from './schema.ts'
import { isRecord } from './yup/yup-node.ts'

/** Finds the arrays of a value that are too long; nothing to look for when undefined. */
type Find = ((value: unknown, path: string, issues: IssueList) => void) | undefined

/**
 * Returns a function that gives an `Invalid` for a value with arrays above the `maxItems` of the validator's own JSON
 * Schema, one issue for each. Alternatives, references and parts with a default (which may replace what is not valid)
 * are left to the library.
 */
export function arrayLimitsOf(schema: StandardLike): (value: unknown, limit?: number) => Invalid | undefined {
  const find = finderOf(jsonSchemaOf(schema, 'input'))
  if (find === undefined) return () => undefined
  return (value, limit = DEFAULT_LIMIT) => {
    const issues = new IssueList(limit)
    find(value, '', issues)
    return issues.found.length === 0 ? undefined : new Invalid(issues.found)
  }
}

function finderOf(schema: unknown): Find {
  if (!isRecord(schema) || 'default' in schema) return undefined
  if (schema.type === 'array') return arrayFinder(schema)
  return schema.type === 'object' ? objectFinder(schema) : undefined
}

function arrayFinder({ maxItems, items }: Readonly<Record<string, unknown>>): Find {
  const most = typeof maxItems === 'number' ? maxItems : Infinity
  const findInItem = finderOf(items)
  if (most === Infinity && findInItem === undefined) return undefined
  return (value, path, issues) => {
    if (!Array.isArray(value)) return
    if (value.length > most)
      issues.add(issueAt(path, `${path || 'this'} must have at most ${most} items, not ${value.length}`))
    else if (findInItem)
      for (let index = 0; index < value.length && !issues.isFull; index++)
        findInItem(value[index], childPath(path, index), issues)
  }
}

function objectFinder({ properties }: Readonly<Record<string, unknown>>): Find {
  if (!isRecord(properties)) return undefined
  const finders = Object.entries(properties)
    .map(([key, schema]) => [key, finderOf(schema)] as const)
    .filter((entry): entry is [string, NonNullable<Find>] => entry[1] !== undefined)
  if (finders.length === 0) return undefined
  return (value, path, issues) => {
    if (!isRecord(value)) return
    for (const [key, find] of finders)
      if (Object.hasOwn(value, key)) find(value[key], childPath(path, key), issues)
  }
}
