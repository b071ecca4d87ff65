import { isoText, readIsoDate } from '../iso-date.ts'
import { compileLeaf } from './fast-leaf.ts'
import { FAIL, type Mode } from './fast-node.ts'
import { isPlain } from './known.ts'
import { lengthLimits } from './passes.ts'
import { judge, NOT_QUICK, quickOf, SAME, WRONG, type Quick } from './quick.ts'
import { isInheritedName, isRecord, isYup, type YupNode } from './yup-node.ts'

/** Filters one kind of value on its way out. */
export interface OutputNode {
  readonly quick: Quick
  /** The filtered value, the value itself when nothing changes, or `FAIL`, which may also be said of a rare valid one. */
  readonly run: (value: unknown) => unknown
}

type Members = Record<string, unknown>

/** Compiles a plain schema for values that leave; undefined when a part of it is not plain. */
export function compileOutputNode(schema: unknown): OutputNode | undefined {
  if (!isYup(schema) || !isPlain(schema)) return undefined
  const node = compileType(schema)
  const { default: fallback } = schema.spec
  if (node === undefined || fallback === undefined) return node
  return { ...node, run: (value) => node.run(value === undefined ? schema.getDefault() : value) }
}

function compileType(schema: YupNode): OutputNode | undefined {
  if (schema.type === 'object') return compileObject(schema)
  if (schema.type === 'array') return compileArray(schema)
  return schema.type === 'tuple' ? undefined : compileValue(schema)
}

/** Nothing that leaves is cast. */
const AS_IT_IS: Mode = { text: false, strict: true, heedsStrict: true, rootIsObject: false }

function compileValue(schema: YupNode): OutputNode {
  const { run } = compileLeaf(schema, AS_IT_IS)
  const quick = quickOf(schema, false, false)
  // Infinity is a number to yup, and null to JSON.
  if (schema.type === 'number')
    return { quick: withFiniteRange(quick), run: (value) => (isFiniteOrNone(value) ? run(value) : FAIL) }
  if (schema.type !== 'date') return { quick, run }
  return {
    quick,
    run: (value) => {
      if (value === undefined || value === null) return run(value)
      const date = readIsoDate(value)
      return date === undefined || run(date) === FAIL ? FAIL : isoText(date)
    },
  }
}

function withFiniteRange(quick: Quick): Quick {
  return {
    ...quick,
    least: Math.max(quick.least, -Number.MAX_VALUE),
    most: Math.min(quick.most, Number.MAX_VALUE),
  }
}

function isFiniteOrNone(value: unknown): boolean {
  return value === undefined || value === null || Number.isFinite(value)
}

function compileArray(schema: YupNode): OutputNode | undefined {
  const item = schema.innerType && compileOutputNode(schema.innerType)
  if (schema.innerType && !item) return undefined
  const { least, most, rest } = lengthLimits(schema)
  const none = absence(schema)
  return {
    quick: NOT_QUICK,
    run: (value) => {
      if (!Array.isArray(value)) return none(value)
      if (value.length < least || value.length > most || !rest(value)) return FAIL
      return item ? runItems(value, item) : value
    },
  }
}

function runItems(items: readonly unknown[], { quick, run }: OutputNode): unknown {
  let result: unknown[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    const verdict = judge(quick, item)
    if (verdict === WRONG) return FAIL
    const filtered = verdict === SAME ? item : run(item)
    if (filtered === FAIL) return FAIL
    if (result !== undefined) result.push(filtered)
    else if (filtered !== item) {
      result = items.slice(0, index)
      result.push(filtered)
    }
  }
  return result ?? items
}

/** `undefined` and `null` where the schema allows them, else `FAIL`. */
function absence({ spec }: YupNode): (value: unknown) => unknown {
  return (value) => {
    if (value === undefined) return spec.optional ? undefined : FAIL
    return value === null && spec.nullable ? null : FAIL
  }
}

function compileObject(schema: YupNode): OutputNode | undefined {
  const entries = Object.entries(schema.fields ?? {})
  const members = entries.map(([, field]) => compileOutputNode(field))
  if (!members.every((member) => member !== undefined)) return undefined
  const keys = entries.map(([key]) => key)
  const listed = schema._whitelist.size + schema._blacklist.size > 0
  if (listed || keys.some(isInheritedName)) return undefined
  const none = absence(schema)
  return {
    quick: NOT_QUICK,
    run: (value) => {
      if (typeof value !== 'object' || value === null) return none(value)
      if (Array.isArray(value) || typeof (value as Members).toJSON === 'function') return FAIL
      return runMembers(value as Members, keys, members)
    },
  }
}

/** The object itself when it is plain and has no other members than declared ones, else one of these alone. */
// oxlint-disable-next-line eslint/complexity -- one loop: a call for each member would cost as much as its test
function runMembers(value: Members, keys: readonly string[], members: readonly OutputNode[]): unknown {
  let result: Members | undefined
  let present = 0
  for (let index = 0; index < keys.length; index++) {
    const before = value[keys[index]!]
    const member = members[index]!
    const verdict = judge(member.quick, before)
    if (verdict === WRONG) return FAIL
    if (verdict === SAME) {
      present++
      if (result !== undefined) result[keys[index]!] = before
      continue
    }
    const after = member.run(before)
    if (after === FAIL) return FAIL
    if (after !== before) result ??= firstMembers(value, keys, index)
    if (after === undefined) continue
    present++
    if (result !== undefined) result[keys[index]!] = after
  }
  if (result !== undefined) return result
  return isRecord(value) && countKeys(value) === present ? value : firstMembers(value, keys, keys.length)
}

function firstMembers(value: Members, keys: readonly string[], count: number): Members {
  const result: Members = {}
  for (let index = 0; index < count; index++) {
    const member = value[keys[index]!]
    if (member !== undefined) result[keys[index]!] = member
  }
  return result
}

function countKeys(value: Members): number {
  let count = 0
  for (const _ in value) count++
  return count
}
