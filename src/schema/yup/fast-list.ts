import { childPath } from '../invalid.ts'
import { mapItems } from '../shape-guard.ts'
import {
  castMember,
  FAIL,
  isStrict,
  memberMode,
  once,
  whenAbsent,
  type CompileMember,
  type FastNode,
  type LongWay,
  type Mode,
} from './fast-node.ts'
import { generate, type Refer } from './generate.ts'
import { ownIssuesOf } from './own-issues.ts'
import { lengthLimits } from './passes.ts'
import { judge, NOT_QUICK, SAME } from './quick.ts'
import { quickSource } from './quick-source.ts'
import type { YupNode } from './yup-node.ts'

/** The schema of the item at an index; undefined where items may be anything. */
type MemberAt = (index: number) => FastNode | undefined

/** Compiles a plain array schema whose item schema compiles. */
export function compileArray(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const member = schema.innerType && compile(schema.innerType, memberMode(schema, mode))
  if ((schema.innerType && !member) || schema.transforms.length > 0) return undefined
  const long = once(() => listLongWay(schema, mode, () => member))
  const { least, most, rest } = lengthLimits(schema)
  const absent = whenAbsent(schema, long, undefined)
  const runItems = member && (generate<RunItems>((refer) => sourceOf(member, refer)) ?? itemsBy(member))
  const run = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value === undefined ? absent() : FAIL
    if (value.length < least || value.length > most) return FAIL
    const result = runItems ? runItems(value) : value
    return result === FAIL || !rest(result) ? FAIL : result
  }
  return { quick: NOT_QUICK, long, run }
}

/** Compiles a plain tuple schema whose item schemas all compile. */
export function compileTuple(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const types = schema.spec.types as readonly unknown[]
  const members = types.map((type) => compile(type, memberMode(schema, mode)))
  if (members.includes(undefined) || schema.transforms.length > 0) return undefined
  // Tuples are rare: they always go the long way.
  const long = once(() => listLongWay(schema, mode, (index) => members[index]))
  return { quick: NOT_QUICK, long, run: () => FAIL }
}

type RunItems = (items: readonly unknown[]) => unknown

/** A loop that leaves items alone while nothing changes, and begins again with `itemsBy` when one does. */
function sourceOf(member: FastNode, refer: Refer): string {
  return `(items) => {
    for (let index = 0; index < items.length; index++) {
      const item = items[index]
      if (${quickSource(member.quick, 'item', refer)}) continue
      if (${refer(member.run)}(item) !== item) return ${refer(itemsBy(member))}(items)
    }
    return items
  }`
}

function itemsBy({ run }: FastNode): RunItems {
  return (items) => {
    let result = items
    for (let index = 0; index < items.length; index++) {
      const before = items[index]
      const after = run(before)
      if (after === before) continue
      if (after === FAIL) return FAIL
      if (result === items) result = items.slice()
      ;(result as unknown[])[index] = after
    }
    return result
  }
}

function listLongWay(schema: YupNode, mode: Mode, memberAt: MemberAt): LongWay {
  const strict = isStrict(schema, mode)
  const cast: LongWay['cast'] = (input) => {
    const value = input === undefined && !strict ? schema.getDefault() : input
    if (!Array.isArray(value) || !schema._typeCheck(value)) return value
    return mapItems(value, (item, index) => {
      const member = memberAt(index)
      return member ? castMember(member, item) : item
    })
  }
  const addOwnIssues = ownIssuesOf(schema)
  const addIssues: LongWay['addIssues'] = ({ value, original: given, path }, issues) => {
    const original = given === undefined ? value : given
    if (Array.isArray(value) && schema._typeCheck(value)) {
      const before: readonly unknown[] = Array.isArray(original) ? original : value
      for (let index = 0; index < value.length; index++) {
        const member = memberAt(index)
        if (member === undefined || judge(member.quick, value[index]) === SAME) continue
        const place = { value: value[index], original: before[index], path: childPath(path, index) }
        member.long().addIssues(place, issues)
      }
    }
    addOwnIssues({ value, original, path }, issues)
  }
  return { cast, addIssues }
}
