import { IssueList } from '../issue-list.ts'
import type { Place } from './own-issues.ts'
import { judge, OTHER, SAME, type Quick } from './quick.ts'
import { isObject, isYup, type YupNode } from '../../compat/yup.ts'

/** Result of `run` for a value that it does not accept. */
export const FAIL: unique symbol = Symbol('fail')

/** A compiled schema. */
export interface FastNode {
  /** Decides most values of a leaf without a call of `run`. */
  readonly quick: Quick
  /**
   * Returns the typed value, the value itself if nothing changes, or `FAIL`. For a rare valid value it may also return
   * `FAIL`; the slow path then decides.
   */
  readonly run: (value: unknown) => unknown
  /**
   * For a string or a number that is read from text, the result of an absent value, which is then not passed to `run`.
   * A value that `quick` does not accept goes to the slow path.
   */
  readonly absence?: 'passes' | 'fails' | undefined
  /** Made on first use, because most routes never receive a value that needs it. */
  readonly long: () => SlowPath
  /** Levels of members: 0 for a leaf, 1 for an object of leaves, infinite where the value alone decides. */
  readonly height: number
}

/**
 * Returns the cast value of a valid member, or `FAIL` if the slow path must check it. A low member goes through `run`
 * first, so the slow path of an object with one wrong member skips the others. A high one would be read once per level.
 */
export function settled({ quick, run, height }: FastNode, value: unknown): unknown {
  const verdict = judge(quick, value)
  if (verdict === SAME) return value
  return verdict === OTHER && height <= 1 ? run(value) : FAIL
}

/** Returns the height of a schema with these members. */
export function heightAbove(members: readonly FastNode[]): number {
  return 1 + Math.max(0, ...members.map(({ height }) => height))
}

/**
 * Casts a value as yup does and adds its issues; a value without issues is valid. Returns the cast value, which is
 * complete only while the list of issues has room. Never throws and never changes the value.
 */
export type SlowPath = (given: Place, issues: IssueList) => unknown

/** Context of a schema that changes its meaning. */
export interface Mode {
  /** The value is text from a query, path or header. */
  readonly text: boolean
  /** An enclosing schema is `strict()`, so nothing is cast. */
  readonly strict: boolean
  /**
   * True if the schema's own `strict()` is effective: yup ignores it in items, and everywhere unless the root is an
   * object.
   */
  readonly heedsStrict: boolean
  readonly rootIsObject: boolean
}

/** The mode of a whole schema. */
export function rootMode(schema: YupNode, text: boolean): Mode {
  return { text, strict: false, heedsStrict: true, rootIsObject: schema.type === 'object' }
}

/** The mode of a schema's items or fields. */
export function memberMode(schema: YupNode, mode: Mode): Mode {
  const heedsStrict = schema.type === 'object' && mode.rootIsObject
  return { ...mode, strict: isStrict(schema, mode), heedsStrict }
}

/** Compiles a member schema; undefined if a part is not plain. */
export type CompileMember = (schema: unknown, mode: Mode) => FastNode | undefined

/** True if a schema is cast in this mode. */
export function isStrict(schema: YupNode, mode: Mode): boolean {
  return mode.strict || (schema.spec.strict && mode.heedsStrict)
}

/** Returns a function for the typed value of an absent value, computed once if the default cannot change. */
export function whenAbsent(schema: YupNode, long: FastNode['long'], absent: undefined | null): () => unknown {
  let answer: (() => unknown) | undefined
  return () => {
    answer ??= steadied(schema, () => {
      const issues = new IssueList(1)
      const cast = long()({ value: absent, original: absent, path: '' }, issues)
      return issues.isFull ? FAIL : cast
    })
    return answer()
  }
}

function steadied(schema: YupNode, decide: () => unknown): () => unknown {
  if (!isSteady(schema)) return decide
  const steady = decide()
  if (typeof steady !== 'object' || steady === null) return () => steady
  return Object.keys(steady).length === 0 && isObject(steady) ? () => ({}) : decide
}

/** True if no default of the schema or of its fields is computed by a function. */
function isSteady(schema: YupNode): boolean {
  return (
    typeof schema.spec.default !== 'function' &&
    Object.values(schema.fields ?? {})
      .filter(isYup)
      .every(isSteady)
  )
}
