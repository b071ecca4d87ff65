import { HttpError, type Context, type Logger } from 'mortar'
import { clientNetwork, isDevServer, isSameOrigin, takeOver, type Takeover } from 'mortar/kit'
import type { WebSocket } from 'ws'
import { CLOSES, labelOf } from './close-codes.ts'
import { errorFields } from './error-fields.ts'
import type { Settings } from './options.ts'
import { problem } from './problems.ts'
import { ServerSocket, type SocketCounts } from './server-socket.ts'
import type { SocketRouteRuntime } from './socket-route.ts'

/** The version of the protocol (RFC 6455 §4.1). */
const VERSION = '13'

/** Groups of sockets that are pinged one after another, so that many sockets do not block the process. */
const GROUPS = 30

/** The service `realtime`: the sockets of this process. */
export class Sockets {
  /** Numbers of messages since the start. */
  readonly totals: SocketCounts = { received: 0, sent: 0 }
  /** Numbers of closed sockets by code. */
  readonly closed = new Map<string, number>()
  /** Number of open sockets. */
  size = 0
  readonly settings: Settings
  readonly #trusted: readonly string[]
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<ServerSocket>())
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
    const names = ['origin', 'host', 'sec-fetch-site']
    const headers = Object.fromEntries(names.map((name) => [name, ctx.get(name)]))
    // A handshake is a GET that can do anything.
    if (isSameOrigin({ method: 'POST', headers }, this.#trusted)) return
    throw problem('origin_refused', 'A socket must be opened by a page of the same origin.')
  }

  /** Takes a place for a client. @returns the function that gives it back. @throws HttpError if none is left. */
  enter(client: string): () => void {
    const taken = this.#clients.get(client) ?? 0
    if (taken >= this.settings.socketsPerClient)
      throw problem('too_many_sockets', 'This client has too many open sockets.', RETRY)
    if (this.size >= this.settings.sockets)
      throw problem('sockets_full', 'The server has no room for further sockets. Try again shortly.', RETRY)
    this.size++
    this.#clients.set(client, taken + 1)
    return () => {
      this.size--
      const left = this.#clients.get(client)! - 1
      if (left > 0) this.#clients.set(client, left)
      else this.#clients.delete(client)
    }
  }

  /** Watches a socket for a lost client. @returns the function that stops it. */
  watch(socket: ServerSocket): () => void {
    this.#timer ??= setInterval(() => this.#pingGroup(), this.settings.ping / GROUPS).unref()
    const group = this.#groups[this.#next++ % GROUPS]!
    group.add(socket)
    return () => void group.delete(socket)
  }

  /** Counts a handler until it ends. */
  async track(work: Promise<unknown>): Promise<void> {
    this.#running++
    await work
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
    for (const group of this.#groups) for (const socket of group) socket.end(closing())
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

/** `mortar dev` starts the application again immediately. */
function closing(): (typeof CLOSES)['closing' | 'restart'] {
  return isDevServer() ? CLOSES.restart : CLOSES.closing
}

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
  takeOver(ctx, takeoverOf(ctx, route, socketsOf(ctx)))
}

function takeoverOf(ctx: Context, route: SocketRouteRuntime, sockets: Sockets): Takeover {
  let socket: ServerSocket | undefined
  return {
    begin(connection) {
      const bounds = route.boundsIn(sockets.settings.bounds)
      const leave = sockets.enter(clientOf(ctx))
      let ws: WebSocket
      try {
        ws = route.shake(connection, bounds)
      } catch (error) {
        leave()
        throw error
      }
      socket = new ServerSocket({ id: ctx.id, ws, route, bounds, totals: sockets.totals })
      const forget = sockets.watch(socket)
      const closed = listen(ws, socket).then((code) => {
        leave()
        forget()
        report(ctx, socket!, { code, route, sockets, since })
      })
      const since = performance.now()
      return sockets.track(Promise.all([closed, run(ctx, route, socket)]))
    },
    end: ({ status }) => socket?.end(status === 401 ? CLOSES.session : closing()),
  }
}

function clientOf({ user, ip }: Context): string {
  return user === null ? `network ${clientNetwork(ip)}` : `user ${user.id}`
}

/** Connects a socket with the events of its connection. Resolves to the code of the end. */
function listen(ws: WebSocket, socket: ServerSocket): Promise<number> {
  ws.on('message', (data, isBinary) => socket.accept(data, isBinary))
  ws.on('ping', () => socket.count() && socket.hasRoom())
  ws.on('pong', () => (socket.isAlive = true))
  // A broken frame or a lost connection; the end follows.
  ws.on('error', () => undefined)
  return new Promise((resolve) => {
    ws.on('close', (code) => {
      socket.wake()
      resolve(code)
    })
  })
}

async function run(ctx: Context, route: SocketRouteRuntime, socket: ServerSocket): Promise<void> {
  // The connection belongs to the socket when `begin` has returned.
  await Promise.resolve()
  try {
    await route.handler(ctx, socket)
    socket.end(CLOSES.done)
  } catch (error) {
    fail(ctx, socket, error)
  }
}

function fail(ctx: Context, socket: ServerSocket, error: unknown): void {
  const { signal } = ctx
  // The handler was waiting when the socket ended.
  if (signal.aborted && (error === signal.reason || (error as Error | null)?.name === 'AbortError')) return
  if (error instanceof HttpError && error.status < 500) return socket.close(undefined, error)
  ctx.log.error(
    { event: 'socket.failed', route: ctx.route, err: errorFields(error) },
    'The handler of a socket failed',
  )
  socket.end(CLOSES.failed)
}

interface Ended {
  readonly code: number
  readonly since: number
  readonly route: SocketRouteRuntime
  readonly sockets: Sockets
}

/** Counts and logs the end of a socket. */
function report(ctx: Context, socket: ServerSocket, { code: received, since, route, sockets }: Ended): void {
  const code = socket.closed?.code ?? received
  sockets.countClosed(code)
  if (!route.isLogged) return
  const ms = Math.round(performance.now() - since)
  const { received: messages, sent } = socket
  const log: Logger = ctx.log
  log.info(
    { event: 'socket.closed', route: ctx.route, code, ms, received: messages, sent },
    `Socket ${ctx.path} closed with ${code} after ${ms} ms`,
  )
}
