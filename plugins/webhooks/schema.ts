import type { EntitySchema, EntitySchemaOptions } from 'typeorm'
import { BINARY, LONG, makeEntity } from 'mortar/kit'

/** A row of `mortar_webhook_endpoints`. Times are milliseconds since the epoch; drivers return them as strings or numbers. */
export interface EndpointRow {
  id: string
  /** The customer. */
  owner: string
  url: string
  /** Names of events as a JSON list; null for all. */
  events: string | null
  secret: string
  /** The secret before the last rotation, which signs as well until `old_secret_until`. */
  old_secret: string | null
  old_secret_until: number | string | null
  /** Failed attempts in succession, and the moment of the first one. */
  failures: number
  failing_since: number | string | null
  disabled_at: number | string | null
  created_at: number | string
}

/** A row of `mortar_webhook_deliveries`: one message for one endpoint. */
export interface DeliveryRow {
  id: string
  /** Id of the message, which each attempt sends as `webhook-id`. */
  message: string
  endpoint: string
  event: string
  body: string
  state: 'waiting' | 'delivered' | 'failed'
  attempts: number
  /** Status of the last response. */
  status: number | null
  /** Why the last attempt failed. */
  error: string | null
  created_at: number | string
  updated_at: number | string
}

const NEED = { of: "the brick 'webhooks'", peers: { from: import.meta.url, packages: ['typeorm'] } }
const MILLISECONDS = { type: 'bigint' } as const
const ID = { type: String, length: 36 } as const

const ENDPOINTS: EntitySchemaOptions<EndpointRow> = {
  name: 'mortar_webhook_endpoints',
  columns: {
    id: { ...ID, primary: true },
    owner: { type: String, length: 200, ...BINARY },
    url: { type: 'text' },
    events: { type: 'text', nullable: true },
    secret: { type: String, length: 100 },
    old_secret: { type: String, length: 100, nullable: true },
    old_secret_until: { ...MILLISECONDS, nullable: true },
    failures: { type: Number },
    failing_since: { ...MILLISECONDS, nullable: true },
    disabled_at: { ...MILLISECONDS, nullable: true },
    created_at: MILLISECONDS,
  },
  indices: [{ columns: ['owner'] }],
}

const DELIVERIES: EntitySchemaOptions<DeliveryRow> = {
  name: 'mortar_webhook_deliveries',
  columns: {
    id: { ...ID, primary: true },
    message: { type: String, length: 40 },
    endpoint: ID,
    event: { type: String, length: 100 },
    body: { type: 'text', ...LONG },
    state: { type: String, length: 10 },
    attempts: { type: Number },
    status: { type: Number, nullable: true },
    error: { type: 'text', nullable: true },
    created_at: MILLISECONDS,
    updated_at: MILLISECONDS,
  },
  indices: [
    { columns: ['endpoint', 'message'], unique: true },
    { columns: ['endpoint', 'created_at'] },
    { columns: ['updated_at'] },
  ],
}

/** The endpoints of customers. */
export const MortarWebhookEndpoints: EntitySchema<EndpointRow> = makeEntity(ENDPOINTS, NEED)
/** The log of deliveries. */
export const MortarWebhookDeliveries: EntitySchema<DeliveryRow> = makeEntity(DELIVERIES, NEED)
