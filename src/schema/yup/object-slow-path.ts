import { childPath } from '../invalid.ts'
import type { IssueList } from '../issue-list.ts'
import { mapMembers } from './shape-guard.ts'
import {
  FAIL,
  settled,
  type SlowPath,
  isStrict,
  memberMode,
  type CompileMember,
  type FastNode,
  type Mode,
} from './fast-node.ts'
import { AS_CAST, ownIssuesOf, type Place } from './own-issues.ts'
import { isInheritedName, isObject, ownMember, type YupNode } from '../../compat/yup.ts'

type Members = Record<string, unknown>

/** Casts an object and finds the issues in it, as yup does. */
export function objectSlowPath(plan: ObjectPlan): SlowPath {
  const { schema, strict } = plan
  const addOwnIssues = ownIssuesOf(schema)
  return ({ value: input, original, path }, issues) => {
    const value: unknown = input === undefined && !strict ? schema.getDefault() : input
    const cast = isObject(value) ? settleMembers(plan, { value, original, path }, issues) : value
    addOwnIssues({ value: cast, original: original === undefined ? AS_CAST : original, path }, issues)
    return cast
  }
}

function settleMembers(
  plan: ObjectPlan,
  { value, original, path }: Place & { value: Members },
  issues: IssueList,
): Members {
  const { keys, members, read } = plan
  const before = isObject(original) ? original : undefined
  const casts: unknown[] = []
  let isSame = true
  for (let index = 0; index < keys.length; index++) {
    if (issues.isFull) return value
    const key = keys[index]!
    const given = read(value, key)
    const member = members[index]!
    let cast = settled(member, given)
    if (cast === FAIL) {
      const from = before ? read(before, key) : AS_CAST
      cast = member.long()({ value: given, original: from, path: childPath(path, key) }, issues)
    }
    casts.push(cast)
    isSame &&= cast === given && Object.hasOwn(value, key) === (cast !== undefined)
  }
  return plan.strict ? strictly(plan, value, casts) : loosely(plan, value, { casts, isSame })
}

/** Keeps absent keys absent, and drops keys that every object inherits unless they are declared. */
function strictly({ keys, known }: ObjectPlan, value: Members, casts: readonly unknown[]): Members {
  const castOf = new Map(keys.map((key, index) => [key, casts[index]]))
  return mapMembers(
    value,
    (key) => known.has(key),
    (member, key) => castOf.get(key) ?? member,
  )
}

function loosely(
  { keys, known, strips }: ObjectPlan,
  value: Members,
  { casts, isSame }: { casts: readonly unknown[]; isSame: boolean },
): Members {
  const others: string[] = []
  for (const key of Object.keys(value)) if (!known.has(key)) others.push(key)
  if (isSame && others.length === 0) return value
  const kept = strips ? [] : others.filter((key) => !isInheritedName(key))
  if (isSame && kept.length === others.length) return value
  const result: Members = {}
  for (let index = 0; index < keys.length; index++)
    if (casts[index] !== undefined) result[keys[index]!] = casts[index]
  for (const key of kept) result[key] = value[key]
  return result
}

/** The properties of an object schema that validation needs. */
export interface ObjectPlan {
  readonly schema: YupNode
  readonly keys: readonly string[]
  readonly members: readonly FastNode[]
  readonly known: ReadonlySet<string>
  /** Reads a declared member of a value. */
  readonly read: typeof ownMember
  /** Unknown keys are dropped. */
  readonly strips: boolean
  /** Unknown keys are an issue. */
  readonly refuses: boolean
  readonly strict: boolean
}

/** Reads an object schema; undefined when a member does not compile. */
export function planOf(schema: YupNode, mode: Mode, compile: CompileMember): ObjectPlan | undefined {
  const strict = isStrict(schema, mode)
  const entries = Object.entries(schema.fields ?? {})
  const members = entries.map(([, field]) => compile(field, memberMode(schema, mode)))
  if (!members.every((member) => member !== undefined)) return undefined
  const keys = entries.map(([key]) => key)
  const names = schema.tests.map((test) => test.OPTIONS.name)
  const refuses = names.includes('exact') || (names.includes('noUnknown') && schema.spec.noUnknown === true)
  const strips = schema.spec.noUnknown === true && !strict
  const read = keys.some(isInheritedName) ? ownMember : anyMember
  return { schema, keys, members, known: new Set(keys), read, strips, refuses, strict }
}

const anyMember: typeof ownMember = (value, key) => value[key]
