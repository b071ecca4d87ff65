import { childPath } from '../invalid.ts'
import { mapMembers } from '../shape-guard.ts'
import {
  FAIL,
  isStrict,
  memberMode,
  whenAbsent,
  type CompileMember,
  type FastNode,
  type Mode,
} from './fast-node.ts'
import { ownIssuesOf } from './own-issues.ts'
import { judge, judgeDigits, NOT_QUICK, SAME, WRONG } from './quick.ts'
import { isInheritedName, isObject, isRecord, ownMember, type YupNode } from './yup-node.ts'

type Members = Record<string, unknown>

/** What the closures below need to know of an object schema. */
interface ObjectPlan {
  readonly schema: YupNode
  readonly keys: readonly string[]
  readonly members: readonly FastNode[]
  readonly known: ReadonlySet<string>
  /** Unknown keys are dropped. */
  readonly strips: boolean
  /** Unknown keys are an issue. */
  readonly refuses: boolean
  readonly strict: boolean
}

/** Compiles a plain object schema whose members all compile. */
export function compileObject(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const plan = planOf(schema, mode, compile)
  if (plan === undefined || schema.transforms.length > 0) return undefined
  const node = { cast: castOf(plan), addIssues: addIssuesOf(plan) }
  return { ...node, quick: NOT_QUICK, run: runOf(plan, whenAbsent(schema, node, undefined)) }
}

function planOf(schema: YupNode, mode: Mode, compile: CompileMember): ObjectPlan | undefined {
  const strict = isStrict(schema, mode)
  const entries = Object.entries(schema.fields ?? {})
  const members = entries.map(([, field]) => compile(field, memberMode(schema, mode)))
  if (!members.every((member) => member !== undefined)) return undefined
  const keys = entries.map(([key]) => key)
  const names = schema.tests.map((test) => test.OPTIONS.name)
  const refuses = names.includes('exact') || (names.includes('noUnknown') && schema.spec.noUnknown === true)
  const strips = schema.spec.noUnknown === true && !strict
  return { schema, keys, members, known: new Set(keys), strips, refuses, strict }
}

function runOf(plan: ObjectPlan, absent: () => unknown): FastNode['run'] {
  const { keys, members, schema } = plan
  const runs = members.map((member) => member.run)
  const quicks = members.map((member) => member.quick)
  const indexOf = new Map(keys.map((key, index) => [key, index]))
  const all = keys.length === 31 ? -1 >>> 1 : (1 << keys.length) - 1
  const listed = schema._whitelist.size + schema._blacklist.size > 0
  // `seen` holds a bit a key. Objects with more keys, or with keys that every object inherits, go the long way.
  if (listed || keys.length > 31 || keys.some(isInheritedName)) return () => FAIL
  // oxlint-disable-next-line eslint/complexity -- one loop: a call for each member would cost as much as its test
  return (value) => {
    if (!isRecord(value)) return value === undefined ? absent() : FAIL
    let result = value
    let seen = 0
    let odd = false
    let index = 0
    // Reading a member inside `for in` needs no look-up, and most callers send keys in the order they are declared.
    for (const key in value) {
      if (key !== keys[index]) {
        const found = indexOf.get(key)
        odd ||= found === undefined
        if (found === undefined) continue
        index = found
      }
      const before = value[key]
      const verdict = judge(quicks[index]!, before)
      if (verdict === WRONG) return FAIL
      seen |= 1 << index
      if (verdict === SAME) {
        index++
        continue
      }
      const digits = judgeDigits(quicks[index]!, before)
      const after = digits === undefined ? runs[index]!(before) : digits
      index++
      if (digits === undefined) {
        odd ||= after === undefined
        if (after === before) continue
        if (after === FAIL) return FAIL
      }
      if (result === value) result = { ...value }
      result[key] = after
    }
    const full = seen === all ? result : withAbsent(plan, seen, value, result)
    return odd && full !== FAIL ? withoutOthers(plan, value, full) : full
  }
}

/** Adds the defaults of keys that were not there. */
function withAbsent(plan: ObjectPlan, seen: number, value: Members, given: Members): Members | typeof FAIL {
  let result = given
  for (let index = 0; index < plan.keys.length; index++) {
    if (seen & (1 << index)) continue
    const after = plan.members[index]!.run(undefined)
    if (after === FAIL) return FAIL
    if (after === undefined) continue
    if (result === value) result = { ...value }
    result[plan.keys[index]!] = after
  }
  return result
}

/** Settles what the quick count cannot: unknown keys, and declared keys that hold undefined. */
function withoutOthers(plan: ObjectPlan, value: Members, result: Members): unknown {
  const kept: Members = {}
  let dropped = false
  for (const key of Object.keys(value)) {
    const known = plan.known.has(key)
    if (!known && plan.refuses && staysUnknown(plan, key)) return FAIL
    if (known ? plan.strict || result[key] !== undefined : staysUnknown(plan, key)) kept[key] = result[key]
    else dropped = true
  }
  if (!dropped) return result
  for (const key of plan.keys) if (result[key] !== undefined) kept[key] = result[key]
  return kept
}

function staysUnknown(plan: ObjectPlan, key: string): boolean {
  return !plan.strips && !isInheritedName(key)
}

function castOf(plan: ObjectPlan): FastNode['cast'] {
  const { schema, keys, members, known, strips } = plan
  if (plan.strict) {
    const castOne = new Map(keys.map((key, index) => [key, members[index]!.cast]))
    const map = (member: unknown, key: string): unknown => castOne.get(key)?.(member) ?? member
    return (value) => (isObject(value) ? mapMembers(value, (key) => known.has(key), map) : value)
  }
  return (input) => {
    const value = input === undefined ? schema.getDefault() : input
    if (!isObject(value)) return value
    const result: Members = {}
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      const cast = members[index]!.cast(ownMember(value, key))
      if (cast !== undefined) result[key] = cast
    }
    if (!strips)
      for (const key of Object.keys(value))
        if (!known.has(key) && !isInheritedName(key)) result[key] = value[key]
    return isSame(value, result) ? value : result
  }
}

function isSame(value: Members, result: Members): boolean {
  const keys = Object.keys(value)
  return (
    keys.length === Object.keys(result).length &&
    keys.every((key) => Object.hasOwn(result, key) && result[key] === value[key])
  )
}

function addIssuesOf({ schema, keys, members }: ObjectPlan): FastNode['addIssues'] {
  const addOwnIssues = ownIssuesOf(schema)
  return ({ value, original: given, path }, issues) => {
    const original = given === undefined ? value : given
    if (isObject(value)) {
      const before = isObject(original) ? original : value
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index]!
        const place = {
          value: ownMember(value, key),
          original: ownMember(before, key),
          path: childPath(path, key),
        }
        members[index]!.addIssues(place, issues)
      }
    }
    addOwnIssues({ value, original, path }, issues)
  }
}
