import { childPath, Invalid, issueAt, type BrokenRule, type SchemaIssue } from '../invalid.ts'
import { DEFAULT_LIMIT } from '../issue-list.ts'
import { ruleNamed, ruleOfTest } from './rule-of-test.ts'
import { withoutInheritedKeys } from './shape-guard.ts'
import type { Validate } from '../validate.ts'
import { correctedSchema, isKnownYup } from '../../compat/yup-self-test.ts'
import { matchesUrls } from '../../compat/yup-url.ts'
import { boundedOptions, boundedSchema, failedTestOf } from '../../compat/yup-bounds.ts'
import {
  castOptions,
  isObject,
  isYup,
  itemSchema,
  validateByPrivate,
  type YupIssue,
  type YupNode,
} from '../../compat/yup.ts'

/**
 * Validates with yup itself, for schemas that are not plain: returns the typed value or an `Invalid`, as a promise only
 * if a test is asynchronous. Errors of custom tests are passed on; a value that cannot be cast is an issue. The value
 * has passed `refuseUnfit`.
 */
export function validateByYup(schema: YupNode, options: object = {}): Validate {
  return (given, limit = DEFAULT_LIMIT) => {
    const value = withoutInheritedKeys(schema, given)
    if (!isKnownYup(schema)) return validatePublicly(schema, value, { options, limit })
    const uncastable = 'strict' in options ? undefined : findUncastable
    try {
      return attempt(schema, value, { options, limit })
    } catch (error) {
      const path = uncastable?.(schema, value)
      if (path === undefined) throw error
      return new Invalid([
        issueAt(path, { rule: 'type' }, `${path || 'this'} has a form that cannot be read`),
      ])
    }
  }
}

interface Settings {
  readonly options: object
  readonly limit: number
}

/** Validates with yup's documented interface and the corrected rules, for a version whose private parts are unknown. */
async function validatePublicly(schema: YupNode, value: unknown, settings: Settings): Promise<unknown> {
  const { options, limit } = settings
  const wrongUrl = findWrongUrl(schema, value)
  if (wrongUrl !== undefined)
    return new Invalid([issueAt(wrongUrl, { rule: 'url' }, `${wrongUrl || 'this'} must be a valid URL`)])
  try {
    return await correctedSchema(schema).validate(value, { ...options, abortEarly: false })
  } catch (error) {
    if ((error as Error).name !== 'ValidationError') throw error
    return new Invalid(issuesOf(error as YupIssue).slice(0, limit))
  }
}

/** Finds an invalid URL first, because yup's own pattern takes exponential time for text that is not a URL. */
function findWrongUrl(schema: YupNode, value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return matchesUrls(schema, value) ? undefined : path
  for (const [key, member, inner] of membersOf(schema, value)) {
    const found = isYup(member) ? findWrongUrl(member, inner, childPath(path, key)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

type Outcome = { readonly result: unknown } | { readonly error: unknown }

/**
 * Calls the method behind `validate` and `validateSync`. The former always returns a promise, and the latter throws
 * after it has started an asynchronous test. A schema does not reveal whether it has such a test.
 */
function attempt(schema: YupNode, given: unknown, { options, limit }: Settings): unknown {
  let outcome: Outcome | undefined
  let later: ((outcome: Outcome) => void) | undefined
  const settle = (settled: Outcome): void => {
    outcome = settled
    later?.(settled)
  }
  const resolved = boundedSchema(schema).resolve({ value: given })
  const within = { ...options, ...boundedOptions(limit), abortEarly: false, disableStackTrace: true }
  validateByPrivate(resolved, valueOrDefault(resolved, given), within, {
    panic: (error) => settle({ error }),
    next: (errors, value) =>
      settle({ result: errors.length === 0 ? value : new Invalid(errors.flatMap(issuesOf).slice(0, limit)) }),
  })
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the compiler does not see the callbacks write
  const settled = outcome as Outcome | undefined
  if (settled === undefined)
    return new Promise((resolve, reject) => {
      later = (end) => ('error' in end ? reject(end.error) : resolve(end.result))
    })
  if ('error' in settled) throw settled.error
  return settled.result
}

/** Works around yup 1.7.1, which reads the items of an absent array to format their issues, and throws. */
function valueOrDefault(schema: YupNode, value: unknown): unknown {
  const isList = schema.type === 'array' || schema.type === 'tuple'
  return value === undefined && isList && !schema.spec.strict ? schema.getDefault() : value
}

function issuesOf(error: YupIssue): readonly SchemaIssue[] {
  if (error.inner !== undefined && error.inner.length > 0) return error.inner.flatMap(issuesOf)
  return [issueAt(error.path ?? '', ruleOfError(error), error.message)]
}

function ruleOfError(error: YupIssue): BrokenRule {
  const failed = failedTestOf(error)
  // `createError({ type })` names another rule.
  const isOwnName = failed !== undefined && error.type === failed.test.OPTIONS.name
  return isOwnName ? ruleOfTest(failed.schema, failed.test) : ruleNamed(error.type)
}

/**
 * Path of a value whose cast throws, such as an object where `trim()` expects a string; undefined if no cast throws, so
 * that the error came from a test.
 */
function findUncastable(schema: YupNode, value: unknown): string | undefined {
  return findBelow(schema, value, '', castOptions(schema.resolve({ value })))
}

function findBelow(schema: YupNode, value: unknown, path: string, options: object): string | undefined {
  try {
    schema.resolve({ value }).cast(value, options)
    return undefined
  } catch {
    for (const [key, member, inner] of membersOf(schema, value)) {
      const found = isYup(member) ? findBelow(member, inner, childPath(path, key), options) : undefined
      if (found !== undefined) return found
    }
    return path
  }
}

type Member = readonly [key: string | number, schema: unknown, value: unknown]

function membersOf(schema: YupNode, value: unknown): readonly Member[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, itemSchema(schema, index), item])
  if (!isObject(value) || schema.fields === undefined) return []
  return Object.entries(schema.fields).map(([key, field]) => [key, field, value[key]])
}
