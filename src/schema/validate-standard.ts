import { childPath, Invalid, issueAt } from './invalid.ts'
import { DEFAULT_LIMIT } from './issue-list.ts'
import type { StandardLike } from './schema.ts'
import { ruleOfStandard, type StandardIssue } from './rule-of-standard.ts'
import { refuseUnfit } from './yup/shape-guard.ts'
import { isObject, ownMember } from '../compat/yup.ts'
import { isThenable } from '../support/thenable.ts'
import type { Validate } from './validate.ts'

/** The result of a Standard Schema validator (https://standardschema.dev). */
interface StandardResult {
  readonly value?: unknown
  readonly issues?: readonly StandardIssue[]
}

/**
 * Validates with a Standard Schema validator: returns the typed value or an `Invalid`, as a promise if the validator is
 * asynchronous. The standard has no limit of issues, so the library finds all of them, and the list is cut.
 */
export function validateByStandard(schema: StandardLike): Validate {
  const standard = schema['~standard']
  return (value, limit = DEFAULT_LIMIT) => {
    const unfit = refuseUnfit(value)
    if (unfit !== undefined) return unfit
    const result = standard.validate(value) as StandardResult | PromiseLike<StandardResult>
    return isThenable(result)
      ? Promise.resolve(result).then((settled) => read(settled, value, limit))
      : read(result, value, limit)
  }
}

/** True for a Standard Schema validator; some libraries make theirs functions. */
export function isStandard(value: unknown): value is StandardLike {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<StandardLike>)['~standard']
  return typeof standard?.validate === 'function'
}

function read(result: StandardResult, value: unknown, limit: number): unknown {
  if (result.issues === undefined) return result.value
  const first = result.issues.slice(0, limit)
  return new Invalid(
    first.map((issue) => {
      const keys: readonly Key[] = (issue.path ?? []).map(keyOf)
      const path = keys.reduce<string>((parent, key) => childPath(parent, key), '')
      return issueAt(path, ruleOfStandard(issue, memberAt(value, keys)), issue.message)
    }),
  )
}

type Key = string | number

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): Key {
  const key = typeof segment === 'object' ? segment.key : segment
  return typeof key === 'symbol' ? String(key) : key
}

function memberAt(value: unknown, keys: readonly Key[]): unknown {
  let member = value
  for (const key of keys)
    member =
      isObject(member) || Array.isArray(member)
        ? ownMember(member as Record<string, unknown>, String(key))
        : undefined
  return member
}
