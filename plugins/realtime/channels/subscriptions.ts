import type { Context, User } from 'mortar'
import type { FoundChannel } from './load-channels.ts'

/** Events that may wait while missed ones are sent. */
const MOST_HELD = 1000

/** A text for a client: JSON, and the id that a client comes back with. */
export interface Frame {
  readonly text: string
  readonly id?: string
}

/** The connection of a client. */
export interface Outlet {
  /** False once the connection ends. */
  readonly isOpen: boolean
  /** Sends a frame, or ends the connection if too much waits for its client. */
  write(frame: Frame): void
  /** Resolves when no frame waits, or the connection is closed. */
  drained(): Promise<void>
  /** Ends a stream on which no channel is left. A socket can subscribe again. */
  end(): void
  /** Ends the connection of a client that is too slow. */
  cut(): void
}

/** A client with its subscriptions, by the names of the channels. */
export class Client {
  readonly ctx: Context
  readonly outlet: Outlet
  readonly subscriptions = new Map<string, Subscription>()
  /** Facts about the user, from the last credential that was valid. */
  user: User | null
  /** The last token of the client, if it has sent one after the request. */
  token: string | undefined = undefined
  /** True from the end of the credential with these facts until another one. The session may go on. */
  isExpired = false
  /** Evaluations of its guards that have failed in succession. */
  failures = 0
  delivered = 0
  readonly since = performance.now()

  constructor(ctx: Context, outlet: Outlet) {
    this.ctx = ctx
    this.outlet = outlet
    this.user = ctx.user
  }
}

/** A frame that waits. */
interface HeldFrame {
  readonly to: Subscription
  readonly frame: Frame
}

/** A subscription of a client to a channel. */
export class Subscription {
  readonly client: Client
  readonly found: FoundChannel
  /** The number of the last event that is not sent again. */
  after = 0
  /** Frames that wait until missed events are sent, those of all channels together; undefined without missed ones. */
  held: HeldFrame[] | undefined = undefined
  isOpen = false
  /** True if presence counts it, for the user whom it counts. */
  isThere = false
  user: string | undefined = undefined

  constructor(client: Client, found: FoundChannel) {
    this.client = client
    this.found = found
  }

  get name(): string {
    return this.found.name
  }

  /** Sends a frame to the client, or keeps it until missed events are sent. */
  take(frame: Frame): void {
    if (this.held !== undefined) {
      // The client comes back with its last id.
      if (this.held.push({ to: this, frame }) > MOST_HELD) this.client.outlet.cut()
      return
    }
    this.send(frame)
  }

  /** Sends a frame to the client. */
  send(frame: Frame): void {
    this.client.delivered++
    this.client.outlet.write(frame)
  }
}
