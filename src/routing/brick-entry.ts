import type { AuthRequirement, MessageSchemas } from './route.ts'

/** An entry point of an application that is not a route, such as a job. `mortar routes` lists it. */
export interface BrickEntry {
  /** One word: `job`. */
  readonly kind: string
  /** Unique among the entries of its kind. */
  readonly name: string
  /** Absolute path of its file, if it has one. */
  readonly file?: string
  /** Its settings by name. None of them is a secret. */
  readonly settings: Readonly<Record<string, string | number | boolean>>
  /**
   * Messages of a channel, for the AsyncAPI document: its address with `:name` for a parameter, its guard, its schemas, and
   * the path of the route over which clients subscribe.
   */
  readonly messages?: MessageSchemas & {
    readonly path: string
    readonly auth: AuthRequirement
    readonly over?: string
  }
}
