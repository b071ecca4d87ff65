import { FAIL, heightAbove, whenAbsent, type CompileMember, type FastNode, type Mode } from './fast-node.ts'
import { generate, type Refer } from './generate.ts'
import { once } from '../../support/once.ts'
import { objectSlowPath, planOf, type ObjectPlan } from './object-slow-path.ts'
import { NOT_QUICK, quickSource } from './quick.ts'
import { readDecimal } from './query-coercion.ts'
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
  if (hasLists(plan.schema) || plan.keys.some(isInheritedName)) return () => FAIL
  return generate<Run>((refer) => objectSource(plan, absent, refer)) ?? (() => FAIL)
}

/** Source text of a function that returns the typed form of an object, the object itself, or `FAIL`. */
function objectSource(plan: ObjectPlan, absent: () => unknown, refer: Refer): string {
  const { keys, members } = plan
  const names = keys.map((key) => JSON.stringify(key))
  const reads = names.map((name, index) => `const v${index} = value[${name}]\n`)
  const types = members.map((member, index) => memberSource(member, index, refer))
  const writes = names.map((name, index) => `if (c${index} !== undefined) result[${name}] = c${index}\n`)
  const present = keys.map((_, index) => `(v${index} === undefined ? 0 : 1)`).join(' + ') || '0'
  const isSame = keys.map((_, index) => `c${index} === v${index}`).join(' && ') || 'true'
  return `(value) => {
    if (!${refer(isRecord)}(value)) return value === undefined ? ${refer(absent)}() : ${refer(FAIL)}
    ${reads.join('')}${types.join('')}
    const isSame = ${isSame}
    let others = -(${present})
    for (const _ in value) others++
    if (isSame && others === 0) return value
    const result = {}
    ${writes.join('')}
    return others === 0 ? result : ${refer(withOthers)}(${refer(plan)}, value, { result, isSame })
  }`
}

/** Reads the member of an index as `v0`, and its typed value as `c0`. */
function memberSource({ quick, run, absence }: FastNode, index: number, refer: Refer): string {
  const [before, after, fail] = [`v${index}`, `c${index}`, refer(FAIL)]
  const isNumber = absence !== undefined && quick.type === 'number'
  const typed = isNumber
    ? `typeof ${before} === 'string' ? ${refer(readDecimal)}(${before}) : ${before}`
    : before
  const test = quickSource(quick, after, refer)
  if (absence === undefined)
    return `let ${after} = ${typed}
      if (!(${test}) && (${after} = ${refer(run)}(${before})) === ${fail}) return ${fail}\n`
  const isAbsent = absence === 'passes' ? `${before} === undefined || ` : ''
  return `const ${after} = ${typed}
    if (!(${isAbsent}${test})) return ${fail}\n`
}

/** Decides cases that the count of keys cannot: unknown keys, and declared keys with the value undefined. */
function withOthers(
  plan: ObjectPlan,
  value: Members,
  { result, isSame }: { result: Members; isSame: boolean },
): unknown {
  let changed = !isSame
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
