import type { Readable } from 'node:stream'

/** What goes over the wire: headers already set on the response stay, `type` is used where none was set. */
export interface Outgoing {
  readonly status: number
  readonly type: string | undefined
  /** Null for no body; text is UTF-8. */
  readonly payload: string | Buffer | Readable | null
}
