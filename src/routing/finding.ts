import type { RouteFileCode } from './route-codes.ts'

/** A broken convention, with its remedy but without its files. */
export interface Finding {
  readonly code: RouteFileCode
  /** Predicate of a sentence whose subject is the file: `has no method in its name`. */
  readonly found: string
  readonly remedy: string
  readonly cause?: unknown
}
