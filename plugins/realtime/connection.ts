/*
 * The bookkeeping of one socket. An application has thousands of idle ones, so there is one object for each, with functions
 * that all sockets share. Measured by bench/realtime.ts.
 */
import type { Context, HttpError, Logger } from 'mortar'
import {
  clientNetwork,
  type ConnectionLife,
  describeError,
  isDevServer,
  isHttpError,
  type TakenConnection,
  type Takeover,
} from 'mortar/kit'
import { CLOSES } from './close-codes.ts'
import type { ConnectedSocket, SocketEvents } from './connected-socket.ts'
import { ServerSocket } from './server-socket.ts'
import type { OpenSocket } from './socket-places.ts'

/** A socket from the handshake until it is closed and its handler has ended. */
export class Connection extends ServerSocket implements Takeover, SocketEvents {
  #group: Set<OpenSocket> | undefined = undefined
  #life: ConnectionLife | undefined = undefined
  #since = 0
  /** The connection and the handler, until they have ended. */
  #open = 2

  begin(connection: TakenConnection, life: ConnectionLife): void {
    const { ctx, route, sockets, bounds } = this
    sockets.enter(clientOf(ctx))
    let ws: ConnectedSocket
    try {
      ws = route.shake(connection, bounds)
    } catch (error) {
      sockets.leave(clientOf(ctx))
      throw error
    }
    ws.events = this
    this.open(ws)
    this.#life = life
    this.#since = Math.round(performance.now())
    this.#group = sockets.watch(this)
    sockets.begun()
    // The connection belongs to the socket when this function has returned.
    queueMicrotask(() => this.#run())
  }

  end({ status }: HttpError): void {
    if (this.#life !== undefined) this.finish(status === 401 ? CLOSES.session : closing())
  }

  onClose(received: number): void {
    const { ctx, route, sockets } = this
    this.wake()
    sockets.leave(clientOf(ctx))
    this.#group!.delete(this)
    const code = this.closed?.code ?? received
    sockets.countClosed(code)
    if (route.isLogged) report(ctx, this, code, Math.round(performance.now() - this.#since))
    this.#life!.closed()
    this.#settle()
  }

  #run(): void {
    const handled = this.#handle()
    // One function for both: an idle socket keeps it.
    const end = (): void => void this.#end(handled)
    handled.then(end, end)
  }

  #handle(): Promise<unknown> {
    try {
      return Promise.resolve(this.route.handler(this.ctx, this))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #end(handled: Promise<unknown>): Promise<void> {
    try {
      await handled
      this.finish(CLOSES.done)
    } catch (error) {
      fail(this.ctx, this, error)
    }
    this.#settle()
  }

  #settle(): void {
    if (--this.#open > 0) return
    this.#life!.ended()
    this.sockets.ended()
  }
}

/** Returns the end of a socket whose application stops. `mortar dev` starts it again immediately. */
export function closing(): (typeof CLOSES)['closing' | 'restart'] {
  return isDevServer() ? CLOSES.restart : CLOSES.closing
}

/** The client of a request, which has its own share of the places. */
export function clientOf({ user, ip }: Context): string {
  return user === null ? `network ${clientNetwork(ip)}` : `user ${user.id}`
}

function fail(ctx: Context, socket: ServerSocket, error: unknown): void {
  // The handler was waiting when the socket ended.
  if (ctx.signal.aborted && error === ctx.signal.reason) return
  const err = describeError(error)
  if (ctx.signal.aborted && err.type === 'AbortError') return
  if (isHttpError(error) && error.status < 500) return socket.close(undefined, error)
  ctx.log.error({ event: 'socket.failed', route: ctx.route, err }, 'The handler of a socket failed')
  socket.finish(CLOSES.failed)
}

/** Logs the end of a socket. */
function report(ctx: Context, { received, sent }: ServerSocket, code: number, ms: number): void {
  const log: Logger = ctx.log
  log.info(
    { event: 'socket.closed', route: ctx.route, code, ms, received, sent },
    `Socket ${ctx.path} closed with ${code} after ${ms} ms`,
  )
}
