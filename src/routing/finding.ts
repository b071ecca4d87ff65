/** A code for a directory of route files. `docs/startup-errors.md` has the meaning and the remedy of each. */
export type RouteFileCode = `MORTAR_ROUTE_${string}`

/** A broken convention, with its remedy but without its files. */
export interface Finding {
  readonly code: RouteFileCode
  /** Predicate of a sentence whose subject is the file: `has no method in its name`. */
  readonly found: string
  readonly remedy: string
  readonly cause?: unknown
}
