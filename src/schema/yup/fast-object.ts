import { FAIL, heightAbove, whenAbsent, type CompileMember, type FastNode, type Mode } from './fast-node.ts'
import { once } from '../once.ts'
import { objectSlowPath, planOf, type ObjectPlan } from './object-slow-path.ts'
import { judge, NOT_QUICK, SAME } from './quick.ts'
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
  const { keys, members } = plan
  return (value) => {
    if (!isRecord(value)) return value === undefined ? absent() : FAIL
    let result: Members | undefined
    let present = 0
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      const before = value[key]
      const after = typed(members[index]!, before)
      if (after === FAIL) return FAIL
      if (before !== undefined) present++
      if (after !== before) result ??= firstMembers(value, keys, index)
      if (result !== undefined && after !== undefined) result[key] = after
    }
    return countKeys(value) === present ? (result ?? value) : withOthers(plan, value, result)
  }
}

/** Returns the typed value of a member, or `FAIL`. Most members need no call of `run`. */
function typed({ quick, run }: FastNode, value: unknown): unknown {
  return judge(quick, value) === SAME ? value : run(value)
}

/** Copies the members before an index, none of which has changed. */
function firstMembers(value: Members, keys: readonly string[], end: number): Members {
  const result: Members = {}
  for (const key of keys.slice(0, end)) if (value[key] !== undefined) result[key] = value[key]
  return result
}

function countKeys(value: Members): number {
  let count = 0
  for (const _ in value) count++
  return count
}

/** Decides cases that the count of keys cannot: unknown keys, and declared keys with the value undefined. */
function withOthers(plan: ObjectPlan, value: Members, declared: Members | undefined): unknown {
  const result = declared ?? firstMembers(value, plan.keys, plan.keys.length)
  let changed = declared !== undefined
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
