import type { Infer, Schema } from 'mortar'

const EVENT = Symbol.for('mortar.jobs.event')

/** The type of data that passed the schema of a definition. */
export type DataOf<S> = S extends Schema ? Infer<S> : undefined

/** An event whose subscribers are jobs: each runs at least once, in any process, and is repeated on its own. */
export interface DurableEvent<S = Schema | undefined> {
  readonly [EVENT]: true
  /** Name for messages and logs. */
  readonly name: string
  readonly data: S
}

/** The arguments of `publish` after the event: the data, unless the event has none, and options. */
export type Published<S> =
  undefined extends DataOf<S>
    ? [data?: DataOf<S>, options?: PublishOptions]
    : [data: DataOf<S>, options?: PublishOptions]

/** Options of one published event. */
export interface PublishOptions {
  /** The transaction with which the event is published, as for `add`. */
  readonly tx?: unknown
}

/**
 * Defines an event with the schema of its data: `durableEvent('note.shared', object({ … }))`. A job subscribes with
 * `on`, and `jobs.publish` publishes it.
 */
export function durableEvent<S extends Schema | undefined = undefined>(
  name: string,
  data?: S,
): DurableEvent<S> {
  return { [EVENT]: true, name, data: data as S }
}

/** True for a result of `durableEvent`, also from another copy of the package. */
export function isDurableEvent(value: unknown): value is DurableEvent {
  return typeof value === 'object' && value !== null && EVENT in value
}
