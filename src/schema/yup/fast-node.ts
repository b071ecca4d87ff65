import type { SchemaIssue } from '../invalid.ts'
import type { Place } from './own-issues.ts'
import type { Quick } from './quick.ts'
import { isObject, isYup, type YupNode } from './yup-node.ts'

/** What `run` returns instead of a value when it does not accept one. */
export const FAIL: unique symbol = Symbol('fail')

/** A compiled schema. */
export interface FastNode {
  /** Settles most values of a leaf without a call of `run`. */
  readonly quick: Quick
  /**
   * The typed value of a valid value, the value itself when nothing changes, or `FAIL`. It may also say `FAIL` of a
   * rare valid value: `cast` and `addIssues` then decide.
   */
  readonly run: (value: unknown) => unknown
  /** yup's cast: never throws, and never changes the value it is given. */
  readonly cast: (value: unknown) => unknown
  /** Adds every issue of a cast value; none means that it is valid. */
  readonly addIssues: (place: Place, issues: SchemaIssue[]) => void
}

/** How the schema around it changes a schema's meaning. */
export interface Mode {
  /** The value is text from a query, path or header. */
  readonly text: boolean
  /** An enclosing schema is `strict()`, so nothing is cast. */
  readonly strict: boolean
  /** Whether the schema's own `strict()` counts: yup ignores it in items, and everywhere unless the root is an object. */
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

/** Compiles a member schema; undefined when it holds something that is not plain. */
export type CompileMember = (schema: unknown, mode: Mode) => FastNode | undefined

/** Whether a schema is cast in this mode. */
export function isStrict(schema: YupNode, mode: Mode): boolean {
  return mode.strict || (schema.spec.strict && mode.heedsStrict)
}

/** The long way round: cast, then look for issues. */
export function decide(node: Pick<FastNode, 'cast' | 'addIssues'>, value: unknown): unknown {
  const cast = node.cast(value)
  const issues: SchemaIssue[] = []
  node.addIssues({ value: cast, original: value, path: '' }, issues)
  return issues.length === 0 ? cast : FAIL
}

/** A function that gives the typed value of an absent value; worked out once when the default cannot change. */
export function whenAbsent(
  schema: YupNode,
  node: Pick<FastNode, 'cast' | 'addIssues'>,
  absent: undefined | null,
): () => unknown {
  if (!isSteady(schema)) return () => decide(node, absent)
  const once = decide(node, absent)
  if (typeof once !== 'object' || once === null) return () => once
  return Object.keys(once).length === 0 && isObject(once) ? () => ({}) : () => decide(node, absent)
}

/** True when no default of the schema or of its fields is worked out by a function. */
function isSteady(schema: YupNode): boolean {
  return (
    typeof schema.spec.default !== 'function' &&
    Object.values(schema.fields ?? {})
      .filter(isYup)
      .every(isSteady)
  )
}
