import { childPath } from '../invalid.ts'
import { mapItems } from '../shape-guard.ts'
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
import { lengthLimits } from './passes.ts'
import { judge, NOT_QUICK, SAME, WRONG } from './quick.ts'
import type { YupNode } from './yup-node.ts'

/** The schema of the item at an index; undefined where items may be anything. */
type MemberAt = (index: number) => FastNode | undefined

/** Compiles a plain array schema whose item schema compiles. */
export function compileArray(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const member = schema.innerType && compile(schema.innerType, memberMode(schema, mode))
  if ((schema.innerType && !member) || schema.transforms.length > 0) return undefined
  const node = listNode(schema, mode, () => member)
  const { least, most, rest } = lengthLimits(schema)
  const absent = whenAbsent(schema, node, undefined)
  const run = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value === undefined ? absent() : FAIL
    if (value.length < least || value.length > most) return FAIL
    const result = member ? runAll(value, member) : value
    return result === FAIL || !rest(result) ? FAIL : result
  }
  return { ...node, quick: NOT_QUICK, run }
}

/** Compiles a plain tuple schema whose item schemas all compile. */
export function compileTuple(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const types = schema.spec.types as readonly unknown[]
  const members = types.map((type) => compile(type, memberMode(schema, mode)))
  if (members.includes(undefined) || schema.transforms.length > 0) return undefined
  // Tuples are rare: they always go the long way.
  return { ...listNode(schema, mode, (index) => members[index]), quick: NOT_QUICK, run: () => FAIL }
}

function runAll(items: readonly unknown[], { quick, run }: FastNode): unknown {
  let result: unknown = items
  for (let index = 0; index < items.length; index++) {
    const before = items[index]
    const verdict = judge(quick, before)
    if (verdict === SAME) continue
    if (verdict === WRONG) return FAIL
    const after = run(before)
    if (after === before) continue
    if (after === FAIL) return FAIL
    if (result === items) result = items.slice()
    ;(result as unknown[])[index] = after
  }
  return result
}

function listNode(schema: YupNode, mode: Mode, memberAt: MemberAt): Pick<FastNode, 'cast' | 'addIssues'> {
  const strict = isStrict(schema, mode)
  const cast: FastNode['cast'] = (input) => {
    const value = input === undefined && !strict ? schema.getDefault() : input
    if (!Array.isArray(value) || !schema._typeCheck(value)) return value
    return mapItems(value, (item, index) => {
      const member = memberAt(index)
      return member ? member.cast(item) : item
    })
  }
  const addOwnIssues = ownIssuesOf(schema)
  const addIssues: FastNode['addIssues'] = ({ value, original: given, path }, issues) => {
    const original = given === undefined ? value : given
    if (Array.isArray(value) && schema._typeCheck(value)) {
      const before: readonly unknown[] = Array.isArray(original) ? original : value
      for (let index = 0; index < value.length; index++) {
        const place = { value: value[index], original: before[index], path: childPath(path, index) }
        memberAt(index)?.addIssues(place, issues)
      }
    }
    addOwnIssues({ value, original, path }, issues)
  }
  return { cast, addIssues }
}
