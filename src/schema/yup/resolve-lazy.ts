import { builderOf, isYup, type LazyBuilder, type YupNode } from '../../compat/yup.ts'

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
