import type { AnyBrick } from '../bricks/brick.ts'
import type { Route } from '../routing/route.ts'
import type { ResolvedOptions } from './options.ts'

/** An application that was put together without starting anything. It cannot be started any more. */
export interface Inspection {
  /** In the order in which they would start. */
  readonly bricks: readonly AnyBrick[]
  /** The OpenAPI document that would be served; an empty object where there is none. */
  readonly document: () => object
  readonly options: ResolvedOptions
  readonly routes: readonly Route[]
  readonly serviceNames: readonly string[]
  /** Services by name; asking for one makes it, and what it needs. */
  readonly services: Readonly<Record<string, unknown>>
  /** Makes every singleton, so that a wrong dependency is found. @throws StartupError */
  resolveSingletons(): void
}
