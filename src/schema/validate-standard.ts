import { childPath, Invalid, issueAt } from './invalid.ts'
import { DEFAULT_LIMIT } from './issue-list.ts'
import type { StandardLike } from './schema.ts'
import { refuseUnfit } from './yup/shape-guard.ts'
import type { Validate } from './validate.ts'

/** The result of a Standard Schema validator (https://standardschema.dev). */
interface StandardResult {
  readonly value?: unknown
  readonly issues?: readonly {
    readonly message: string
    readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
  }[]
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
    const result = standard.validate(value) as StandardResult | Promise<StandardResult>
    return result instanceof Promise ? result.then((settled) => read(settled, limit)) : read(result, limit)
  }
}

/** True for a Standard Schema validator; some libraries make theirs functions. */
export function isStandard(value: unknown): value is StandardLike {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<StandardLike>)['~standard']
  return typeof standard?.validate === 'function'
}

function read(result: StandardResult, limit: number): unknown {
  if (result.issues === undefined) return result.value
  const first = result.issues.slice(0, limit)
  return new Invalid(first.map(({ path = [], message }) => issueAt(path.reduce(join, ''), message)))
}

function join(path: string, segment: PropertyKey | { readonly key: PropertyKey }): string {
  const key = typeof segment === 'object' ? segment.key : segment
  return childPath(path, typeof key === 'symbol' ? String(key) : key)
}
