import type { Method } from '../routing/route.ts'
import type { FileSegment } from './parse-segment.ts'

/** A module to import, and its position in the routes. */
export type PlannedFile = PlannedRoute | PlannedMiddleware

interface Planned {
  /** Path relative to the directory of routes, with slashes. */
  readonly file: string
  /** Pattern of the route or prefix of the middleware: `/users/:id`. */
  readonly pattern: string
  /** Undefined when the position is broken, which is a finding. The module can still be checked. */
  readonly segments: readonly FileSegment[] | undefined
}

/** A file for one method of one path. */
export interface PlannedRoute extends Planned {
  readonly kind: 'route'
  readonly method: Method
  /** Protocol that the ending of the name demands; undefined for a method. */
  readonly protocol?: string
}

/** A `_middleware` file; `pattern` is the prefix that it wraps. */
export interface PlannedMiddleware extends Planned {
  readonly kind: 'middleware'
}
