import { oncePerObject } from '../../support/once.ts'
import { builderOf, isYup, type LazyBuilder, type YupNode } from '../../compat/yup.ts'

/**
 * Returns the result of a lazy schema whose function has no parameters, always the same one; undefined for a function
 * that depends on the value.
 */
export const resolveLazy = oncePerObject((schema: YupNode) => resultOf(builderOf(schema)))

function resultOf(builder: LazyBuilder | undefined): YupNode | undefined {
  if (builder === undefined || builder.length > 0) return undefined
  try {
    const built = builder(undefined)
    return isYup(built) ? built : undefined
  } catch {
    return undefined
  }
}
