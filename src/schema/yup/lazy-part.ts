import { IssueList } from '../issue-list.ts'
import { FAIL, type FastNode } from './fast-node.ts'
import { NOT_QUICK } from './quick.ts'
import { builderOf, isYup, type LazyBuilder, type YupNode } from '../../compat/yup.ts'

/**
 * Compiles a lazy schema that depends only on its value. It accepts every value for which the schema's function throws,
 * returns a new schema each time, or returns another schema after the cast; then only yup can decide.
 */
export function compileLazy(schema: YupNode, compile: (schema: unknown) => FastNode): FastNode | undefined {
  const builder = builderOf(schema)
  if (builder === undefined || builder.length > 1 || schema.spec.optional) return undefined
  const nodes = new WeakMap<object, FastNode>()
  const nodeFor = (value: unknown): FastNode | undefined => {
    const built = steadyResult(builder, value)
    if (built === undefined) return undefined
    const node = nodes.get(built) ?? compile(built)
    nodes.set(built, node)
    return node
  }
  return {
    quick: NOT_QUICK,
    height: Infinity,
    run: (value) => (nodeFor(value)?.run(value) === FAIL ? FAIL : value),
    long: () => (given, issues) => {
      const node = nodeFor(given.value)
      if (node === undefined) return given.value
      const own = new IssueList(issues.room)
      const cast = node.long()(given, own)
      if (cast !== given.value && nodeFor(cast) !== node) return given.value
      issues.addAll(own)
      return cast
    },
  }
}

function steadyResult(builder: LazyBuilder, value: unknown): YupNode | undefined {
  try {
    const built = builder(value)
    return isYup(built) && builder(value) === built ? built : undefined
  } catch {
    return undefined
  }
}

const results = new WeakMap<YupNode, YupNode | undefined>()

/**
 * Returns the result of a lazy schema whose function has no parameters, always the same one; undefined for a function
 * that depends on the value.
 */
export function resolveLazy(schema: YupNode): YupNode | undefined {
  if (!results.has(schema)) results.set(schema, resultOf(builderOf(schema)))
  return results.get(schema)
}

function resultOf(builder: LazyBuilder | undefined): YupNode | undefined {
  if (builder === undefined || builder.length > 0) return undefined
  try {
    const built = builder(undefined)
    return isYup(built) ? built : undefined
  } catch {
    return undefined
  }
}
