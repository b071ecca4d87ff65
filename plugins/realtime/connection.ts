/*
 * The bookkeeping of one socket. An application has thousands of idle ones, so there is one object for each, with functions
 * that all sockets share. Measured by bench/realtime.ts.
 */
import { HttpError, type Context, type Logger } from 'mortar'
import {
  clientNetwork,
  type ConnectionLife,
  describeError,
  isDevServer,
  type TakenConnection,
  type Takeover,
} from 'mortar/kit'
import type { RawData } from 'ws'
import { CLOSES } from './close-codes.ts'
import type { ConnectedSocket, SocketEvents } from './connected-socket.ts'
import type { Settings } from './options.ts'
import { ServerSocket, type SocketCounts } from './server-socket.ts'
import type { SocketRouteRuntime } from './socket-route.ts'

/** The sockets of a process, as one connection sees them. */
export interface SocketPlaces {
  readonly settings: Settings
  readonly totals: SocketCounts
  /** Takes a place for a client, until `leave`. @throws HttpError if none is left. */
  enter(client: string): void
  leave(client: string): void
  /** Watches a socket for a lost client. @returns the set from which it is removed when it is closed. */
  watch(socket: ServerSocket): Set<ServerSocket>
  /** Counts a connection until `ended`. */
  begun(): void
  ended(): void
  countClosed(code: number): void
}

/** A socket from the handshake until it is closed and its handler has ended. */
export class Connection implements Takeover, SocketEvents {
  readonly #ctx: Context
  readonly #route: SocketRouteRuntime
  readonly #sockets: SocketPlaces
  #socket: ServerSocket | undefined = undefined
  #group: Set<ServerSocket> | undefined = undefined
  #life: ConnectionLife | undefined = undefined
  #since = 0
  /** The connection and the handler, until they have ended. */
  #open = 2

  constructor(ctx: Context, route: SocketRouteRuntime, sockets: SocketPlaces) {
    this.#ctx = ctx
    this.#route = route
    this.#sockets = sockets
  }

  begin(connection: TakenConnection, life: ConnectionLife): void {
    const sockets = this.#sockets
    const route = this.#route
    const bounds = route.boundsIn(sockets.settings.bounds)
    sockets.enter(clientOf(this.#ctx))
    let ws: ConnectedSocket
    try {
      ws = route.shake(connection, bounds)
    } catch (error) {
      sockets.leave(clientOf(this.#ctx))
      throw error
    }
    const socket = new ServerSocket({ id: this.#ctx.id, ws, route, bounds, totals: sockets.totals })
    this.#socket = socket
    this.#life = life
    this.#since = Math.round(performance.now())
    this.#group = sockets.watch(socket)
    sockets.begun()
    ws.events = this
    // The connection belongs to the socket when this function has returned.
    queueMicrotask(() => this.#run(socket))
  }

  end({ status }: HttpError): void {
    this.#socket?.end(status === 401 ? CLOSES.session : closing())
  }

  onMessage(data: RawData, isBinary: boolean): void {
    this.#socket!.accept(data, isBinary)
  }

  onPing(data: Buffer): void {
    this.#socket!.pong(data)
  }

  onPong(): void {
    this.#socket!.isAlive = true
  }

  onClose(received: number): void {
    const ctx = this.#ctx
    const socket = this.#socket!
    socket.wake()
    this.#sockets.leave(clientOf(ctx))
    this.#group!.delete(socket)
    const code = socket.closed?.code ?? received
    this.#sockets.countClosed(code)
    if (this.#route.isLogged) report(ctx, socket, code, Math.round(performance.now() - this.#since))
    this.#life!.closed()
    this.#settle()
  }

  #run(socket: ServerSocket): void {
    try {
      Promise.resolve(this.#route.handler(this.#ctx, socket)).then(
        () => this.#handled(socket),
        (error: unknown) => this.#failed(socket, error),
      )
    } catch (error) {
      this.#failed(socket, error)
    }
  }

  #handled(socket: ServerSocket): void {
    socket.end(CLOSES.done)
    this.#settle()
  }

  #failed(socket: ServerSocket, error: unknown): void {
    fail(this.#ctx, socket, error)
    this.#settle()
  }

  #settle(): void {
    if (--this.#open > 0) return
    this.#life!.ended()
    this.#sockets.ended()
  }
}

/** Returns the end of a socket whose application stops. `mortar dev` starts it again immediately. */
export function closing(): (typeof CLOSES)['closing' | 'restart'] {
  return isDevServer() ? CLOSES.restart : CLOSES.closing
}

function clientOf({ user, ip }: Context): string {
  return user === null ? `network ${clientNetwork(ip)}` : `user ${user.id}`
}

function fail(ctx: Context, socket: ServerSocket, error: unknown): void {
  const { signal } = ctx
  // The handler was waiting when the socket ended.
  if (signal.aborted && (error === signal.reason || (error as Error | null)?.name === 'AbortError')) return
  if (error instanceof HttpError && error.status < 500) return socket.close(undefined, error)
  ctx.log.error(
    { event: 'socket.failed', route: ctx.route, err: describeError(error) },
    'The handler of a socket failed',
  )
  socket.end(CLOSES.failed)
}

/** Logs the end of a socket. */
function report(ctx: Context, { received, sent }: ServerSocket, code: number, ms: number): void {
  const log: Logger = ctx.log
  log.info(
    { event: 'socket.closed', route: ctx.route, code, ms, received, sent },
    `Socket ${ctx.path} closed with ${code} after ${ms} ms`,
  )
}
