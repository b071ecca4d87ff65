import { connect, type TestedApp, type TestSocket } from '../testing.ts'

/** A frame of the channels, as a client receives it. `docs/realtime.md` has the table. */
export interface ChannelFrame {
  readonly type:
    | 'event'
    | 'subscribed'
    | 'unsubscribed'
    | 'reset'
    | 'place'
    | 'join'
    | 'leave'
    | 'refused'
    | 'authenticated'
  readonly channel?: string
  readonly id?: string
  readonly event?: string
  readonly data?: unknown
  readonly user?: string
  readonly users?: readonly string[]
  readonly problem?: { readonly status: number; readonly code: string; readonly detail?: string }
}

/** Options of `subscribe`. */
export interface SubscribeOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  /** Id of the last event that the client has received. */
  readonly since?: string
  /** Path of the route of the channels; `'/channels'` by default. */
  readonly path?: string
}

/** The client side of a subscription under test. */
export interface TestSubscription extends Pick<TestSocket, 'close' | 'closed' | 'sendText'> {
  /** Sends a frame, such as `{ subscribe: 'rooms/8' }`. */
  send(frame: Readonly<Record<string, string>>): void
  /** The next frame, without those of the type `place`. @throws Error if the socket is closed before. */
  next(): Promise<ChannelFrame>
  /** The first frame: `subscribed`, `reset`, `refused` or a missed event. */
  readonly first: ChannelFrame
  /** The last id that was received. */
  readonly lastId: string | undefined
}

/** Subscribes to a channel over a socket of its own: `await subscribe(app, 'rooms/7', { token })`. */
export async function subscribe(
  app: TestedApp,
  channel: string,
  { token, since, path = '/channels' }: SubscribeOptions = {},
): Promise<TestSubscription> {
  const socket = (await connect(app, path, token === undefined ? {} : { token })) as TestSocket<
    unknown,
    ChannelFrame
  >
  let lastId: string | undefined
  async function next(): Promise<ChannelFrame> {
    const frame = await socket.next()
    lastId = frame.id ?? lastId
    return frame.type === 'place' ? next() : frame
  }
  socket.send({ subscribe: channel, ...(since !== undefined && { since }) })
  const first = await next()
  return {
    ...socket,
    send: (frame) => socket.send(frame),
    next,
    first,
    get lastId() {
      return lastId
    },
  }
}
