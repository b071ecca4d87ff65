import type { FAIL } from './fast-node.ts'
import type { Quick } from './quick.ts'

/** Writes one kind of value on its way out. */
export interface TextNode {
  /** Settles most values of a leaf without a call of `write`. */
  readonly quick: Quick
  readonly write: Write
  /** A valid value is never left out. */
  readonly always: boolean
}

/** JSON text of a valid value, undefined for what is left out; or `FAIL`, which may also be said of a rare valid one. */
export type Write = (value: unknown) => string | undefined | typeof FAIL

/** A declared key and how its values are written. */
export interface TextMember {
  readonly key: string
  readonly node: TextNode
}
