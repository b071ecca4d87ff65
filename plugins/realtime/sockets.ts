import { HttpError, type Context } from 'mortar'
import { isSameOrigin, takeOver } from 'mortar/kit'
import { labelOf } from './close-codes.ts'
import type { Settings } from './options.ts'
import { problem } from './problems.ts'
import { closing, Connection } from './connection.ts'
import type { OpenSocket, SocketCounts, SocketPlaces } from './socket-places.ts'
import type { SocketRouteRuntime } from './socket-route.ts'

/** The version of the protocol (RFC 6455 §4.1). */
const VERSION = '13'

/** Groups of sockets that are pinged one after another, so that many sockets do not block the process. */
const GROUPS = 30

/** The service `realtime`: the sockets of this process. */
export class Sockets implements SocketPlaces {
  /** Numbers of messages since the start. */
  readonly totals: SocketCounts = { received: 0, sent: 0 }
  /** Numbers of closed sockets by code. */
  readonly closed = new Map<string, number>()
  /** Number of open sockets and streams. */
  size = 0
  readonly settings: Settings
  readonly #trusted: readonly string[]
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<OpenSocket>())
  readonly #clients = new Map<string, number>()
  #next = 0
  #turn = 0
  #timer: NodeJS.Timeout | undefined = undefined
  #running = 0
  #whenIdle: (() => void) | undefined = undefined

  constructor(settings: Settings, trusted: readonly string[]) {
    this.settings = settings
    this.#trusted = [...trusted, ...settings.origins]
  }

  /**
   * Refuses a page of another origin: browsers send cookies with every handshake, and ask no server before it. They attach
   * passwords by themselves too, but never a bearer token.
   * @throws HttpError `origin_refused`.
   */
  checkOrigin(ctx: Context): void {
    if (/^bearer /i.test(ctx.get('authorization') ?? '')) return
    // A handshake is a GET that can do anything.
    if (isSameOrigin(ctx, this.#trusted, 'POST')) return
    throw problem('origin_refused', 'A socket must be opened by a page of the same origin.')
  }

  enter(client: string): void {
    const taken = this.#clients.get(client) ?? 0
    if (taken >= this.settings.socketsPerClient)
      throw problem('too_many_sockets', 'This client has too many open sockets and streams.', RETRY)
    if (this.size >= this.settings.sockets)
      throw problem(
        'sockets_full',
        'The server has no room for further sockets and streams. Try again shortly.',
        RETRY,
      )
    this.size++
    this.#clients.set(client, taken + 1)
  }

  leave(client: string): void {
    this.size--
    const left = this.#clients.get(client)! - 1
    if (left > 0) this.#clients.set(client, left)
    else this.#clients.delete(client)
  }

  watch(socket: OpenSocket): Set<OpenSocket> {
    this.#timer ??= setInterval(() => this.#pingGroup(), this.settings.ping / GROUPS).unref()
    return this.#groups[this.#next++ % GROUPS]!.add(socket)
  }

  begun(): void {
    this.#running++
  }

  ended(): void {
    if (--this.#running === 0) this.#whenIdle?.()
  }

  /** Counts a closed socket. */
  countClosed(code: number): void {
    const label = labelOf(code)
    this.closed.set(label, (this.closed.get(label) ?? 0) + 1)
  }

  /** Ends every socket and waits for its handler. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    for (const group of this.#groups) for (const socket of group) socket.finish(closing())
    if (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve
      })
  }

  #pingGroup(): void {
    for (const socket of this.#groups[this.#turn++ % GROUPS]!) socket.ping()
  }
}

const RETRY = { headers: { 'Retry-After': '5' } }

function socketsOf({ services }: Context): Sockets {
  // The brick that registers this service declares the protocol, without which no such route can start.
  return services['realtime'] as Sockets
}

/** Checks a handshake before its guard. @throws HttpError */
export function admit(ctx: Context): void {
  if (ctx.get('sec-websocket-version') !== VERSION)
    throw new HttpError(426, `The version of the WebSocket protocol is ${VERSION}.`, {
      headers: { Upgrade: 'websocket', Connection: 'Upgrade, close', 'Sec-WebSocket-Version': VERSION },
    })
  socketsOf(ctx).checkOrigin(ctx)
}

/** Makes the response of a request its socket. */
export function open(ctx: Context, route: SocketRouteRuntime): void {
  takeOver(ctx, new Connection(ctx, route, socketsOf(ctx)))
}
