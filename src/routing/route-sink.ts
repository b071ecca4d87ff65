import type { StartupError } from '../errors/startup-error.ts'
import type { Environment } from '../support/env/environment.ts'
import type { MiddlewareScope, Route } from './route.ts'

/** Routes and directory middleware that belong together and are added in one step. */
export interface RouteBatch {
  readonly routes: readonly Route[]
  readonly scopes: readonly MiddlewareScope[]
  /** The source directory; a new batch from the same directory replaces this one. */
  readonly directory?: string
  /** Errors of the files that `mortar dev` serves around, by origin. */
  readonly broken?: ReadonlyMap<string, StartupError>
}

/** The application as `loadRoutes` sees it: the receiver of routes. */
export interface RouteSink {
  /** In production, routes come from the manifest of the build. Without a value, no manifest is used. */
  readonly environment?: Environment
  /**
   * Adds the whole batch, or nothing if a route conflicts with an existing one.
   * @throws StartupError with both origins.
   */
  addRoutes(batch: RouteBatch): void
  /** Registers a load in progress: `listen()` and `ready()` wait for `work`. Returns `work`. */
  trackLoad<T>(work: Promise<T>, directory: string): Promise<T>
  /** Logs a warning about the setup of the application. */
  warn(message: string): void
}
