import { FAIL, heightAbove, whenAbsent, type CompileMember, type FastNode, type Mode } from './fast-node.ts'
import { once } from '../once.ts'
import { generate, type Refer } from './generate.ts'
import { objectSlowPath, planOf, type ObjectPlan } from './object-slow-path.ts'
import { NOT_QUICK, readDigits, quickSource } from './quick.ts'
import { hasLists, isInheritedName, isRecord, type YupNode } from '../../compat/yup.ts'

type Members = Record<string, unknown>
type Run = FastNode['run']

/** Compiles a plain object schema whose members all compile. */
export function compileObject(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  const plan = planOf(schema, mode, compile)
  if (plan === undefined || schema.transforms.length > 0) return undefined
  const long = once(() => objectSlowPath(plan))
  return {
    quick: NOT_QUICK,
    long,
    run: runOf(plan, whenAbsent(schema, long, undefined)),
    height: heightAbove(plan.members),
  }
}

function runOf(plan: ObjectPlan, absent: () => unknown): Run {
  const listed = hasLists(plan.schema)
  if (listed || plan.keys.some(isInheritedName)) return () => FAIL
  return generate<Run>((refer) => sourceOf(plan, absent, refer)) ?? loopOf(plan, absent)
}

/** Does the same as `sourceOf`, without generated code. */
function loopOf(plan: ObjectPlan, absent: () => unknown): Run {
  const { keys, members } = plan
  return (value) => {
    if (!isRecord(value)) return value === undefined ? absent() : FAIL
    const result: Members = {}
    let present = 0
    let changed = false
    for (let index = 0; index < keys.length; index++) {
      const before = value[keys[index]!]
      const after = members[index]!.run(before)
      if (after === FAIL) return FAIL
      if (before !== undefined) present++
      if (after !== before) changed = true
      if (after !== undefined) result[keys[index]!] = after
    }
    if (countKeys(value) !== present) return withOthers(plan, value, { result, changed })
    return changed ? result : value
  }
}

function countKeys(value: Members): number {
  let count = 0
  for (const _ in value) count++
  return count
}

function sourceOf(plan: ObjectPlan, absent: () => unknown, refer: Refer): string {
  const { keys, members } = plan
  const fail = refer(FAIL)
  return `(value) => {
    if (!${refer(isRecord)}(value)) return value === undefined ? ${refer(absent)}() : ${fail}
    let present = 0
    let changed = false
    ${members.map((member, index) => memberSource(member, { index, key: keys[index]!, fail }, refer)).join('')}
    let count = 0
    for (const _ in value) count++
    if (count === present && !changed) return value
    const result = {}
    ${keys.map((key, index) => `if (m${index} !== undefined) result[${JSON.stringify(key)}] = m${index}`).join('\n')}
    return count === present ? result : ${refer(withOthers)}(${refer(plan)}, value, { result, changed })
  }`
}

interface Named {
  readonly index: number
  readonly key: string
  readonly fail: string
}

function memberSource(member: FastNode, { index, key, fail }: Named, refer: Refer): string {
  const [before, after] = [`v${index}`, `m${index}`]
  const read = member.quick.digits
    ? `typeof ${before} === 'string' ? ${refer(readDigits)}(${before}) : ${before}`
    : before
  const noteChange = `if (${after} !== ${before}) changed = true`
  return `
    const ${before} = value[${JSON.stringify(key)}]
    let ${after} = ${read}
    if (${quickSource(member.quick, after, refer)}) {
      present++
      ${member.quick.digits ? noteChange : ''}
    } else {
      ${after} = ${refer(member.run)}(${before})
      if (${after} === ${fail}) return ${fail}
      if (${before} !== undefined) present++
      ${noteChange}
    }`
}

/** Decides cases that the count of keys cannot: unknown keys, and declared keys with the value undefined. */
function withOthers(
  plan: ObjectPlan,
  value: Members,
  declared: { result: Members; changed: boolean },
): unknown {
  const { result } = declared
  let { changed } = declared
  for (const key of Object.keys(value)) {
    const known = plan.known.has(key)
    const stays = known ? plan.strict : !plan.strips && !isInheritedName(key)
    if (known && result[key] !== undefined) continue
    if (!known && stays && plan.refuses) return FAIL
    if (stays) result[key] = value[key]
    else changed = true
  }
  return changed ? result : value
}
