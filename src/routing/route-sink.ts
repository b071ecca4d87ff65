import type { Environment } from '../support/env/environment.ts'
import type { MiddlewareScope, Route } from './route.ts'

/** Routes and directory middleware that belong together and are added in one step. */
export interface RouteBatch {
  readonly routes: readonly Route[]
  readonly scopes: readonly MiddlewareScope[]
  /** The directory that they were read from; what is read from it again replaces them. */
  readonly directory?: string
}

/** Where `loadRoutes` puts what it found: an application, seen from below. */
export interface RouteSink {
  /** In production routes come from the manifest of the build. By default none is looked for. */
  readonly environment?: Environment
  /**
   * Adds the whole batch, or nothing when a route conflicts with one that is there.
   * @throws StartupError naming both origins.
   */
  addRoutes(batch: RouteBatch): void
  /** Says that routes are being loaded: `listen()` and `ready()` wait for `work`. Returns `work`. */
  trackLoad<T>(work: Promise<T>, directory: string): Promise<T>
  /** Takes a warning about the application's set-up, for the log. */
  warn(message: string): void
}
