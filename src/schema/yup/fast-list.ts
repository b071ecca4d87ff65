import { childPath } from '../invalid.ts'
import type { IssueList } from '../issue-list.ts'
import {
  FAIL,
  heightAbove,
  isStrict,
  memberMode,
  settled,
  whenAbsent,
  type CompileMember,
  type FastNode,
  type SlowPath,
  type Mode,
} from './fast-node.ts'
import { once } from '../../support/once.ts'
import { AS_CAST, ownIssuesOf, type Place } from './own-issues.ts'
import { lengthLimits } from './passes.ts'
import { judge, NOT_QUICK, SAME } from './quick.ts'
import { isOfType, type YupNode } from '../../compat/yup.ts'

/** Returns the schema of the item at an index; undefined if items may be anything. */
type MemberAt = (index: number) => FastNode | undefined

/** Compiles a plain array schema whose item schema compiles. */
export function compileArray(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const member = schema.innerType && compile(schema.innerType, memberMode(schema, mode))
  if ((schema.innerType && !member) || schema.transforms.length > 0) return undefined
  const long = once(() => listSlowPath(schema, mode, () => member))
  const { least, most, rest } = lengthLimits(schema)
  const absent = whenAbsent(schema, long, undefined)
  const runItems = member && itemsBy(member)
  const run = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value === undefined ? absent() : FAIL
    if (value.length < least || value.length > most) return FAIL
    const result = runItems ? runItems(value) : value
    return result === FAIL || !rest(result) ? FAIL : result
  }
  return { quick: NOT_QUICK, long, run, height: heightAbove(member ? [member] : []) }
}

/** Compiles a plain tuple schema whose item schemas all compile. */
export function compileTuple(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const types = schema.spec.types as readonly unknown[]
  const members = types.map((type) => compile(type, memberMode(schema, mode)))
  if (members.includes(undefined) || schema.transforms.length > 0) return undefined
  // Tuples are rare and always use the slow path.
  const long = once(() => listSlowPath(schema, mode, (index) => members[index]))
  return { quick: NOT_QUICK, long, run: () => FAIL, height: Infinity }
}

type RunItems = (items: readonly unknown[]) => unknown

function itemsBy({ quick, run }: FastNode): RunItems {
  return (items) => {
    let result = items
    for (let index = 0; index < items.length; index++) {
      const before = items[index]
      const after = judge(quick, before) === SAME ? before : run(before)
      if (after === before) continue
      if (after === FAIL) return FAIL
      if (result === items) result = items.slice()
      ;(result as unknown[])[index] = after
    }
    return result
  }
}

function listSlowPath(schema: YupNode, mode: Mode, memberAt: MemberAt): SlowPath {
  const strict = isStrict(schema, mode)
  const addOwnIssues = ownIssuesOf(schema)
  const { least, most, rest } = lengthLimits(schema)
  return ({ value: input, original, path }, issues) => {
    const value: unknown = input === undefined && !strict ? schema.getDefault() : input
    let cast = value
    if (Array.isArray(value) && isOfType(schema, value)) {
      const isTooLong = value.length > most
      if (isTooLong) issues.hasLongArray = true
      // The items of an array that is refused as a whole are not validated.
      else if (value.length >= least && rest(value))
        cast = settleItems({ value, original, path }, memberAt, issues)
    }
    addOwnIssues({ value: cast, original: original === undefined ? AS_CAST : original, path }, issues)
    return cast
  }
}

function settleItems(
  { value: items, original, path }: Place & { value: readonly unknown[] },
  memberAt: MemberAt,
  issues: IssueList,
): readonly unknown[] {
  const before: readonly unknown[] | undefined = Array.isArray(original) ? original : undefined
  let result = items
  for (let index = 0; index < items.length && !issues.isFull; index++) {
    const member = memberAt(index)
    const value = items[index]
    if (member === undefined) continue
    let cast = settled(member, value)
    if (cast === FAIL) {
      const place = { value, original: before ? before[index] : AS_CAST, path: childPath(path, index) }
      cast = member.long()(place, issues)
    }
    if (cast === value) continue
    if (result === items) result = items.slice()
    ;(result as unknown[])[index] = cast
  }
  return result
}
