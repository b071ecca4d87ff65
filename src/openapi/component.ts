import type { Route } from '../routing/route.ts'
import type { Direction, JsonSchema, LabelledSchema } from '../schema/json-schema-parts.ts'

/** Position of a schema, for warnings: the route, and the part of it such as `body`. */
export interface Place {
  readonly route: Route
  readonly part: string
}

/** A labelled schema in one direction. */
export interface Component {
  readonly id: number
  readonly labelled: LabelledSchema
  readonly direction: Direction
  /** First use. Undefined for a form that no operation uses. */
  readonly place: Place | undefined
  /** Labels of the schemas around the first use. */
  readonly around: readonly string[]
  /** Description without annotations. References are by id until the components have names. */
  core: JsonSchema
}
