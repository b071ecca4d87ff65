import {
  BadRequest,
  defineRoute,
  sse,
  ValidationFailed,
  type Context,
  type DefinedRoute,
  type ServerSentEvent,
} from 'mortar'
import { array, object, string } from 'mortar/yup'
import { describeError, ignore, isHttpError } from 'mortar/kit'
import { clientOf } from '../connection.ts'
import { createSocketRoute } from '../socket-route.ts'
import type { Socket } from '../socket.ts'
import { admit, open, type Sockets } from '../sockets.ts'
import { plainFrame, refusedFrame } from './frames.ts'
import type { Hub } from './hub.ts'
import { runtimeOf } from './runtime.ts'
import type { Client, Frame, Outlet, Subscription } from './subscriptions.ts'

const name = string().max(1000)
const id = string().max(100)

/** A frame of a client over a socket. */
const FRAME = object({ subscribe: name, unsubscribe: name, authenticate: string().max(8192), since: id })
type ClientFrame = Readonly<Partial<Record<'subscribe' | 'unsubscribe' | 'authenticate' | 'since', string>>>

/** The route of the channels: a plain GET is a stream of events, an upgrade a socket. Each channel has its own guard. */
export function channelRoute(): DefinedRoute {
  const query = object({ channel: array().of(name.required()), since: id })
  const parts = { receive: FRAME, send: undefined, bounds: {}, isLogged: true, handler: serveSocket }
  const socketRoute = {
    ...createSocketRoute(parts),
    // The text of an event is made once for all clients.
    write: (text: unknown) => text as string,
  }
  const route = defineRoute({ auth: false, query, hidden: true, handlerTimeout: 0 }, (ctx) =>
    ctx.get('upgrade')?.toLowerCase() === 'websocket'
      ? open(ctx as unknown as Context, socketRoute)
      : serveStream(ctx as unknown as Context, ctx.query),
  )
  return { ...route, upgrade: { protocol: 'websocket', admit, isOptional: true } }
}

function hubOf({ services }: Context): Hub {
  return runtimeOf(services['channels']).hub
}

async function serveSocket(ctx: Context, socket: Socket<unknown>): Promise<void> {
  const hub = hubOf(ctx)
  const client = hub.connect(ctx, {
    get isOpen() {
      return socket.isOpen
    },
    write: ({ text }) => socket.send(text),
    drained: () => socket.drained(),
    end: () => undefined,
    cut: () => socket.close(4013, 'slow_reader'),
  })
  try {
    for await (const frame of socket) await act(hub, client, frame as ClientFrame)
  } finally {
    hub.disconnect(client)
  }
}

/** Does what a frame asks for. What is refused is a frame, and the connection goes on. */
async function act(hub: Hub, client: Client, frame: ClientFrame): Promise<void> {
  const { subscribe, unsubscribe, authenticate, since } = frame
  let channel = subscribe ?? unsubscribe
  try {
    if ([subscribe, unsubscribe, authenticate].filter((each) => each !== undefined).length !== 1)
      throw new BadRequest('A frame has one of subscribe, unsubscribe and authenticate.')
    if (subscribe !== undefined) await begin(hub, [await hub.admit(client, subscribe)], since)
    else if (unsubscribe !== undefined) {
      // A client may spell a name in several ways.
      channel = hub.channels.find(unsubscribe).name
      const subscription = client.subscriptions.get(channel)
      if (subscription !== undefined) hub.close(subscription)
      client.outlet.write(plainFrame('unsubscribed', { channel }))
    } else {
      await hub.authenticate(client, authenticate!)
      client.outlet.write(plainFrame('authenticated'))
    }
  } catch (error) {
    if (!isHttpError(error))
      client.ctx.log.error({ event: 'frame.failed', channel, err: describeError(error) }, 'A frame failed')
    client.outlet.write(refusedFrame(channel, error, client.ctx.id))
  }
}

/** Begins subscriptions, or none of them. */
async function begin(
  hub: Hub,
  subscriptions: readonly Subscription[],
  since: string | undefined,
): Promise<void> {
  try {
    await hub.open(subscriptions, since)
  } catch (error) {
    for (const each of subscriptions) hub.close(each)
    throw error
  }
}

async function serveStream(
  ctx: Context,
  {
    channel = [],
    since,
  }: { readonly channel?: readonly string[] | undefined; readonly since?: string | undefined },
): Promise<unknown> {
  if (channel.length === 0)
    throw new ValidationFailed([
      { location: 'query', path: 'channel', rule: 'required', message: 'channel is a required field' },
    ])
  const hub = hubOf(ctx)
  const sockets = ctx.services['realtime'] as Sockets
  sockets.enter(clientOf(ctx))
  const outlet = new EventOutlet(sockets.settings.bounds.maxBuffered)
  const client = hub.connect(ctx, outlet)
  const end = (): void => {
    hub.disconnect(client)
    sockets.leave(clientOf(ctx))
    outlet.end()
  }
  const subscriptions: Subscription[] = []
  try {
    for (const each of new Set(channel)) subscriptions.push(await hub.admit(client, each))
    const stream = await sse(ctx, ({ lastEventId }) => {
      begin(hub, subscriptions, lastEventId ?? since).catch((error: unknown) => outlet.end(error))
      return outlet
    })
    // A stream that ends before its first event, as that of HEAD, does not call the function.
    stream.once('close', () => {
      end()
      report(client, channel.length)
    })
    outlet.cut = () => void stream.destroy()
    return stream
  } catch (error) {
    end()
    throw error
  }
}

/** Logs the end of a stream. */
function report({ ctx, delivered: sent, since }: Client, channels: number): void {
  const ms = Math.round(performance.now() - since)
  const fields = { event: 'stream.closed', route: ctx.route, channels, ms, sent }
  ctx.log.info(fields, `Stream ${ctx.path} closed after ${ms} ms`)
}

/** The events of a stream, of which at most some bytes wait for a slow client. */
class EventOutlet implements Outlet, AsyncIterable<ServerSentEvent<string>> {
  isOpen = true
  cut: () => void = ignore
  readonly #most: number
  readonly #frames: Frame[] = []
  #bytes = 0
  #failure: Error | undefined = undefined
  #wake: () => void = ignore
  #whenDrained: (() => void)[] = []

  constructor(most: number) {
    this.#most = most
  }

  write(frame: Frame): void {
    if (!this.isOpen) return
    if (this.#frames.length > 0 && this.#bytes + frame.text.length > this.#most) return this.cut()
    this.#frames.push(frame)
    this.#bytes += frame.text.length
    this.#wake()
  }

  drained(): Promise<void> {
    if (this.#frames.length === 0 || !this.isOpen) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenDrained.push(resolve)
    })
  }

  end(failure?: unknown): void {
    this.isOpen = false
    if (failure !== undefined)
      this.#failure = failure instanceof Error ? failure : new Error('The subscriptions failed.')
    this.#wake()
    for (const resolve of this.#whenDrained.splice(0)) resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ServerSentEvent<string>> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame !== undefined) {
        this.#bytes -= frame.text.length
        yield { data: frame.text, id: frame.id }
        continue
      }
      for (const resolve of this.#whenDrained.splice(0)) resolve()
      if (this.#failure !== undefined) throw this.#failure
      if (!this.isOpen) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
