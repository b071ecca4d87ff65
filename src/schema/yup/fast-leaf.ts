import { AS_CAST, ownIssuesOf } from './own-issues.ts'
import { FAIL, isStrict, whenAbsent, type FastNode, type SlowPath, type Mode } from './fast-node.ts'
import { once } from '../../support/once.ts'
import { allTests } from './passes.ts'
import { judge, OTHER, type Quick, quickOf, SAME } from './quick.ts'
import { isOfType, type YupNode, type YupTransform } from '../../compat/yup.ts'
import { correctedTransforms } from '../../compat/yup-corrected.ts'

type Run = FastNode['run']

/** Compiles a plain string, number, boolean, date or mixed schema. */
export function compileLeaf(schema: YupNode, mode: Mode): FastNode {
  const strict = isStrict(schema, mode)
  const cast =
    schema.type === 'number' ? finite(uncheckedCast(schema, strict)) : uncheckedCast(schema, strict)
  const long = once(() => slowPathOf(schema, cast))
  const quick = quickOf(schema, !strict && schema.transforms.length > baseTransforms(schema))
  const absence = mode.text ? absenceOf(schema, quick) : undefined
  return { quick, absence, long, run: runOf(schema, { quick, long, cast }), height: 0 }
}

function absenceOf({ spec }: YupNode, { type }: Quick): FastNode['absence'] {
  if (spec.default !== undefined || (type !== 'string' && type !== 'number')) return undefined
  return spec.optional ? 'passes' : 'fails'
}

function uncheckedCast(schema: YupNode, strict: boolean): Run {
  return strict ? (value) => value : castOf(schema)
}

/** Reads `Infinity` as NaN, which no number schema accepts: JSON has `1e400`, and could not send it back. */
function finite(cast: Run): Run {
  return (value) => {
    const result = cast(value)
    return result === Infinity || result === -Infinity ? Number.NaN : result
  }
}

function slowPathOf(schema: YupNode, cast: Run): SlowPath {
  const addIssues = ownIssuesOf(schema)
  return ({ value, original, path }, issues) => {
    const result = cast(value)
    // A message contains "cast from" only if a value was cast.
    addIssues({ value: result, original: result === value ? AS_CAST : original, path }, issues)
    return result
  }
}

function runOf(
  schema: YupNode,
  { quick, long, cast }: Pick<FastNode, 'quick' | 'long'> & { cast: Run },
): Run {
  const absent = whenAbsent(schema, long, undefined)
  const empty = whenAbsent(schema, long, null)
  let tests: ((value: unknown) => boolean) | undefined
  return (value) => {
    if (value === undefined) return absent()
    if (value === null) return empty()
    const verdict = judge(quick, value)
    if (verdict !== OTHER) return verdict === SAME ? value : FAIL
    const result = cast(value)
    return result !== undefined &&
      result !== null &&
      isOfType(schema, result) &&
      (tests ??= allTests(schema))(result)
      ? result
      : FAIL
  }
}

/** Every type but mixed starts with one transform that does not change values of the type. */
function baseTransforms(schema: YupNode): number {
  return schema.type === 'mixed' ? 0 : 1
}

function castOf(schema: YupNode): Run {
  const steps = correctedTransforms(schema)
  return (value) => {
    const cast = value === undefined ? undefined : transform(schema, steps, value)
    return cast === undefined ? schema.getDefault() : cast
  }
}

function transform(schema: YupNode, steps: readonly YupTransform[], value: unknown): unknown {
  try {
    let result = value
    for (const step of steps) result = step.call(schema, result, value, schema)
    return result
  } catch {
    // yup throws a raw TypeError here: `trim()` of an object, an own `toString` that is not a function, a symbol.
    return value
  }
}
