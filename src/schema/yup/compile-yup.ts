import { Invalid } from '../invalid.ts'
import { DEFAULT_LIMIT, IssueList } from '../issue-list.ts'
import { compileLeaf } from './fast-leaf.ts'
import { compileArray, compileTuple } from './fast-list.ts'
import { FAIL, rootMode, type CompileMember, type FastNode, type SlowPath, type Mode } from './fast-node.ts'
import { compileObject } from './fast-object.ts'
import { coerced } from './query-coercion.ts'
import { isPlain, plainPart } from './known.ts'
import { NOT_QUICK } from './quick.ts'
import { isYup, type YupNode } from '../../compat/yup.ts'
import type { Validate } from '../validate.ts'

/**
 * Compiles a plain yup schema to a function with the results of `validateSync` and `abortEarly: false`, a hundred times
 * faster for a valid value. An unchanged value is returned itself. Undefined if any part is not yup's own (lazy, when,
 * references, custom tests and transforms); then use yup. `test/schema/differential.test.ts` compares the two. With
 * `text`, values are coerced as query text first.
 */
export function compileYup(schema: YupNode, text: boolean): FastValidate | undefined {
  const node = compileNode(schema, rootMode(schema, text))
  if (node === undefined) return undefined
  const { run, long } = node
  const explain: Validate = (value, limit) => explained(long(), value, limit)
  const validate: Validate = (value, limit) => {
    const result = run(value)
    return result === FAIL ? explain(value, limit) : result
  }
  return Object.assign(validate, { run, explain })
}

/** A compiled function and its parts: `run` decides most values; where it returns `FAIL`, `explain` decides. */
export type FastValidate = Validate & Pick<FastNode, 'run'> & { readonly explain: Validate }

function explained(long: SlowPath, value: unknown, limit = DEFAULT_LIMIT): unknown {
  const issues = new IssueList(limit)
  const cast = long({ value, original: value, path: '' }, issues)
  return issues.found.length === 0 ? cast : new Invalid(issues.found)
}

/**
 * Compiles the plain parts of a schema that is not entirely plain; all other parts accept anything. The function
 * returns an `Invalid` for a value that is refused without yup: its issues fill the list, or an array is above its
 * limit. yup would cast the whole value first and then format each issue.
 */
export function compilePlainParts(schema: YupNode): (value: unknown, limit?: number) => Invalid | undefined {
  const { run, long } = compilePart(schema, rootMode(schema, false))
  return (value, limit = DEFAULT_LIMIT) => {
    if (run(value) !== FAIL) return undefined
    const issues = new IssueList(limit)
    long()({ value, original: value, path: '' }, issues)
    return issues.isFull || issues.hasLongArray ? new Invalid(issues.found) : undefined
  }
}

const ANYTHING: FastNode = {
  quick: NOT_QUICK,
  run: (value) => value,
  long: () => (given) => given.value,
  height: Infinity,
}

function compilePart(schema: unknown, mode: Mode): FastNode {
  const part = isYup(schema) ? plainPart(schema) : undefined
  return (part && compileType(part, mode, compilePart)) ?? ANYTHING
}

function compileNode(schema: unknown, mode: Mode): FastNode | undefined {
  if (!isYup(schema) || !isPlain(schema)) return undefined
  const node = compileType(schema, mode, compileNode)
  return node && mode.text ? coerced(schema, node) : node
}

function compileType(schema: YupNode, mode: Mode, compile: CompileMember): FastNode | undefined {
  if (schema.type === 'object') return compileObject(schema, mode, compile)
  if (schema.type === 'array') return compileArray(schema, mode, compile)
  if (schema.type === 'tuple') return compileTuple(schema, mode, compile)
  return compileLeaf(schema, mode)
}
