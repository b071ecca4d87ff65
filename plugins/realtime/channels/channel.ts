import type { AuthRequirement, Duration, Infer, Schema } from 'mortar'

const CHANNEL = Symbol.for('mortar.channel')

/** Schemas of the events of a channel by name. */
export type EventSchemas = Readonly<Record<string, Schema>>

/** The declaration of a channel. */
export interface ChannelDefinition<Params, Events> {
  /** Guard of each subscription, as of a route: `true`, policy names, or `false` for everybody. */
  readonly auth: AuthRequirement
  /** Schema of the parameters in the path of the file. */
  readonly params?: Params
  /** Schemas of the events by name. Keys that they do not declare are removed. */
  readonly events: Events
  /** True to tell subscribers which users are there. */
  readonly presence?: boolean
  /** Time for which events are kept for clients that come back; `'10m'` by default. */
  readonly keep?: Duration
}

/** One channel of a file, such as the room 7. */
export interface ChannelAddress<Events extends EventSchemas = EventSchemas> {
  readonly channel: Channel<never, Events>
  readonly params: Readonly<Record<string, unknown>>
}

type Given<Params> = Params extends Schema ? [params: Infer<Params>] : [params?: Record<string, string>]

/** A channel: the default export of a file in the directory of channels. A call with its parameters is an address. */
export interface Channel<Params = never, Events extends EventSchemas = EventSchemas> {
  (...given: Given<Params>): ChannelAddress<Events>
  readonly [CHANNEL]: ChannelDefinition<Schema, Events>
}

/** Defines a channel. Its name is the path of its file: `rooms/[id].ts` is `rooms/7` for the parameter `{ id: '7' }`. */
export function channel<Events extends EventSchemas, Params extends Schema | undefined = undefined>(
  definition: ChannelDefinition<Params, Events>,
): Channel<Params, Events> {
  const made: Channel<Params, Events> = Object.assign(
    // The types of the parameters are those of the schema, by which publications check them.
    (params: unknown = {}) => ({ channel: made as never, params: params as Record<string, unknown> }),
    { [CHANNEL]: definition as never },
  )
  return made
}

/** Returns the definition of a channel, also of another copy of the package; undefined for every other value. */
export function definitionOf(value: unknown): ChannelDefinition<Schema, EventSchemas> | undefined {
  return typeof value === 'function' && CHANNEL in value ? (value as unknown as Channel)[CHANNEL] : undefined
}
