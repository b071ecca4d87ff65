import type { Infer, Schema } from 'mortar'

declare const DATA: unique symbol

/** An event that customers receive, with the schema of its data. */
export interface WebhookEvent<Data = unknown> {
  readonly name: string
  readonly data: Schema
  /** Carries the type of the data; no value has this key. */
  readonly [DATA]?: (data: Data) => void
}

/** Letters, digits and `_` in parts between points, as Standard Webhooks names events: `invoice.paid`. */
export const EVENT_NAME = /^[a-z\d_]+(?:\.[a-z\d_]+)*$/i

/** Defines an event: `webhookEvent('invoice.paid', object({ invoice: string().required() }))`. */
export function webhookEvent<S extends Schema>(name: string, data: S): WebhookEvent<Infer<S>> {
  return { name, data }
}
