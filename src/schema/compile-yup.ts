import { Invalid } from './invalid.ts'
import { compileLeaf } from './yup/fast-leaf.ts'
import { compileArray, compileTuple } from './yup/fast-list.ts'
import { castAndJudge, FAIL, rootMode, type FastNode, type LongWay, type Mode } from './yup/fast-node.ts'
import { compileObject } from './yup/fast-object.ts'
import { coerced } from './query-coercion.ts'
import { isPlain } from './yup/known.ts'
import { isYup, type YupNode } from './yup/yup-node.ts'

/**
 * Compiles a plain yup schema to a function that gives what `validateSync` gives with `abortEarly: false`, a hundred
 * times sooner for a valid value, which is returned itself when nothing changes. Undefined when any part of it is not
 * yup's own (lazy, when, references, custom tests and transforms): then ask yup.
 * `test/schema/differential.test.ts` compares the two. With `text`, values are coerced as query text first.
 */
export function compileYup(schema: YupNode, text: boolean): ((value: unknown) => unknown) | undefined {
  const node = compileNode(schema, rootMode(schema, text))
  if (node === undefined) return undefined
  const { run, long } = node
  return (value) => {
    const result = run(value)
    return result === FAIL ? explain(long(), value) : result
  }
}

function explain(long: LongWay, value: unknown): unknown {
  const { cast, issues } = castAndJudge(long, value)
  return issues.length === 0 ? cast : new Invalid(issues)
}

function compileNode(schema: unknown, mode: Mode): FastNode | undefined {
  if (!isYup(schema) || !isPlain(schema)) return undefined
  const node = compileType(schema, mode)
  return node && mode.text ? coerced(schema, node) : node
}

function compileType(schema: YupNode, mode: Mode): FastNode | undefined {
  if (schema.type === 'object') return compileObject(schema, mode, compileNode)
  if (schema.type === 'array') return compileArray(schema, mode, compileNode)
  if (schema.type === 'tuple') return compileTuple(schema, mode, compileNode)
  return compileLeaf(schema, mode)
}
