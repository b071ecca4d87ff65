import { ownIssuesOf } from './own-issues.ts'
import { FAIL, isStrict, whenAbsent, type FastNode, type Mode } from './fast-node.ts'
import { allTests } from './passes.ts'
import { judge, OTHER, quickOf, SAME, type Quick } from './quick.ts'
import type { YupNode } from './yup-node.ts'

type Run = FastNode['run']
type Long = Pick<FastNode, 'cast' | 'addIssues'>

/** Compiles a plain string, number, boolean, date or mixed schema. */
export function compileLeaf(schema: YupNode, mode: Mode): FastNode {
  const strict = isStrict(schema, mode)
  const node: Long = {
    cast: strict ? (value) => value : castOf(schema),
    addIssues: ownIssuesOf(schema),
  }
  const quick = quickOf(schema, !strict && schema.transforms.length > baseTransforms(schema), mode.text)
  return { ...node, quick, run: runOf(schema, node, quick) }
}

function runOf(schema: YupNode, node: Long, quick: Quick): Run {
  const absent = whenAbsent(schema, node, undefined)
  const empty = whenAbsent(schema, node, null)
  const passes = allTests(schema)
  return (value) => {
    if (value === undefined) return absent()
    if (value === null) return empty()
    const verdict = judge(quick, value)
    if (verdict !== OTHER) return verdict === SAME ? value : FAIL
    const cast = node.cast(value)
    return cast !== undefined && cast !== null && schema._typeCheck(cast) && passes(cast) ? cast : FAIL
  }
}

/** Every type but mixed starts with one transform that leaves values of the type alone. */
function baseTransforms(schema: YupNode): number {
  return schema.type === 'mixed' ? 0 : 1
}

function castOf(schema: YupNode): Run {
  return (value) => {
    const cast = value === undefined ? undefined : transform(schema, value)
    return cast === undefined ? schema.getDefault() : cast
  }
}

function transform(schema: YupNode, value: unknown): unknown {
  try {
    let result = value
    for (const step of schema.transforms) result = step.call(schema, result, value, schema)
    return result
  } catch {
    // yup lets a raw TypeError out here: `trim()` of an object, an own `toString` that is no function, a symbol.
    return value
  }
}
