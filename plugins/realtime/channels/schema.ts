import type { EntitySchema, EntitySchemaOptions } from 'typeorm'
import { BINARY, LONG, makeEntity } from 'mortar/kit'

/** A row of `mortar_channel_events`. Times are milliseconds since the epoch, by the database's clock. */
export interface ChannelEventRow {
  id: string
  channel: string
  event: string
  /** JSON. */
  data: string
  /** Place in the order of all events; null until a process has seen the committed event. */
  seq: number | null
  added_at: number
  /** When the event got its place. */
  published_at: number
  /** Until then the event is kept; the length of that time while the event has no place. */
  expires_at: number
}

/** A row of `mortar_channel_members`: a user who is in a channel, in one process. */
export interface ChannelMemberRow {
  channel: string
  user_id: string
  process: string
  /** The lease of the process, by the database's clock. */
  expires_at: number
}

const NEED = { of: "the brick 'channels'", peers: { from: import.meta.url, packages: ['typeorm'] } }
const MILLISECONDS = { type: 'bigint' } as const

const EVENTS: EntitySchemaOptions<ChannelEventRow> = {
  name: 'mortar_channel_events',
  columns: {
    id: { type: String, length: 60, primary: true, ...BINARY },
    channel: { type: String, length: 200, ...BINARY },
    event: { type: String, length: 100, ...BINARY },
    data: { type: 'text', ...LONG },
    seq: { type: 'bigint', nullable: true },
    added_at: MILLISECONDS,
    published_at: MILLISECONDS,
    expires_at: MILLISECONDS,
  },
  indices: [{ columns: ['seq'] }, { columns: ['channel', 'seq'] }, { columns: ['expires_at'] }],
}

const MEMBERS: EntitySchemaOptions<ChannelMemberRow> = {
  name: 'mortar_channel_members',
  columns: {
    channel: { type: String, length: 200, primary: true, ...BINARY },
    user_id: { type: String, length: 255, primary: true, ...BINARY },
    process: { type: String, length: 36, primary: true },
    expires_at: MILLISECONDS,
  },
  indices: [{ columns: ['expires_at'] }],
}

/** The events of all channels. The row `counter` has the place of the last one. */
export const MortarChannelEvents: EntitySchema<ChannelEventRow> = makeEntity(EVENTS, NEED)
/** The users in channels with `presence`. */
export const MortarChannelMembers: EntitySchema<ChannelMemberRow> = makeEntity(MEMBERS, NEED)
