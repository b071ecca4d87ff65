import type { Context, HttpError } from 'mortar'
import { isHttpError, problemText } from 'mortar/kit'
import { type RawData, WebSocket } from 'ws'
import { CLOSES, codeOfStatus, shortened, type Close } from './close-codes.ts'
import type { ConnectedSocket } from './connected-socket.ts'
import type { Bounds } from './options.ts'
import type { Socket } from './socket.ts'
import type { OpenSocket, SocketCounts, SocketPlaces } from './socket-places.ts'
import type { SocketRouteRuntime } from './socket-route.ts'

/** Messages that wait before no more is read from the client, and the rest at which reading goes on. */
const MOST_WAITING = 16
const FEW_WAITING = 4

/** Milliseconds for a slow client to read the end of its socket. */
const SLOW = 1000

type Read = IteratorResult<unknown, void> | Promise<IteratorResult<unknown, void>>

/** A socket with its bounds. No message is read while the handler is behind. */
export class ServerSocket implements Socket<unknown>, OpenSocket, SocketCounts {
  received = 0
  sent = 0
  /** The frame that this side has sent first; undefined if the client began or the connection was lost. */
  closed: Close | undefined = undefined
  protected readonly ctx: Context
  protected readonly route: SocketRouteRuntime
  protected readonly sockets: SocketPlaces
  protected readonly bounds: Bounds
  #ws!: ConnectedSocket
  /** True if the client has sent something since the last ping. */
  #isAlive = true
  /** Messages for which the handler is not ready. */
  #waiting: string[] | undefined = undefined
  /** Gives the handler its next message. */
  #wake: ((result: Read) => void) | undefined = undefined
  #second = 0
  #inSecond = 0
  #whenDrained: (() => void)[] | undefined = undefined
  /** Bytes of the last message that was sent when none waited. Pings and pongs may wait behind it. */
  #alone = 0

  constructor(ctx: Context, route: SocketRouteRuntime, sockets: SocketPlaces) {
    this.ctx = ctx
    this.route = route
    this.sockets = sockets
    this.bounds = route.boundsIn(sockets.settings.bounds)
  }

  /** Begins with the connection after its handshake. */
  protected open(ws: ConnectedSocket): void {
    this.#ws = ws
  }

  get id(): string {
    return this.ctx.id
  }

  get isOpen(): boolean {
    return this.#ws.readyState === WebSocket.OPEN
  }

  get buffered(): number {
    return this.#ws.bufferedAmount
  }

  send(message: unknown): void {
    if (!this.isOpen) return
    this.#write(this.route.write(message))
    this.sent++
    this.sockets.totals.sent++
  }

  close(code?: number, problem: string | HttpError = ''): void {
    const chosen = code ?? (typeof problem === 'string' ? CLOSES.done.code : codeOfStatus(problem.status))
    if (chosen !== CLOSES.done.code && !(Number.isInteger(chosen) && chosen >= 3000 && chosen < 5000))
      throw new RangeError(`socket.close() takes 1000 or a code from 3000 to 4999, not ${chosen}.`)
    if (typeof problem !== 'string') this.report(problem)
    this.finish({ code: chosen, reason: typeof problem === 'string' ? problem : problem.code })
  }

  drained(): Promise<void> {
    if (!this.isOpen || this.buffered === 0) return Promise.resolve()
    return new Promise((resolve) => {
      ;(this.#whenDrained ??= []).push(resolve)
      // The smallest frame, which nobody answers, is written after all others.
      this.#ws.pong('', false, () => this.#whenDrained!.shift()?.())
    })
  }

  /** Not a generator, which costs an idle socket twice the memory. */
  [Symbol.asyncIterator](): this {
    return this
  }

  /** Sends a problem, as `{ "problem": { … } }`. */
  report(problem: unknown): void {
    if (this.isOpen) this.#write(`{"problem":${problemText(problem, this.id, { exposeUnexpected: false })}}`)
  }

  finish(close: Close): void {
    if (!this.isOpen) return
    this.closed = close
    this.#waiting = undefined
    this.#ws.close(close.code, shortened(close.reason))
    // A socket that is not read would never see the confirmation.
    this.#ws.resume()
    this.wake()
  }

  onMessage(data: RawData, isBinary: boolean): void {
    if (!this.isOpen || !this.#count()) return
    this.received++
    this.sockets.totals.received++
    if (isBinary) return this.finish(CLOSES.binary)
    if (this.route.read === undefined) return this.finish(CLOSES.silent)
    // Text arrives as one buffer.
    const text = (data as Buffer).toString()
    if (this.#wake !== undefined) return this.#wakeWith(text)
    if ((this.#waiting ??= []).push(text) >= MOST_WAITING) this.#ws.pause()
  }

  /** Counts a message or a ping of the client. @returns false beyond the limit, which ends the socket. */
  #count(): boolean {
    this.#isAlive = true
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#inSecond = 0
    }
    if (++this.#inSecond <= this.bounds.messageRate) return true
    this.finish(CLOSES.rate)
    return false
  }

  onPing(data: Buffer): void {
    if (this.isOpen && this.#count() && this.#hasRoom(0, this.#alone)) this.#ws.pong(data)
  }

  onPong(): void {
    this.#isAlive = true
  }

  ping(): void {
    // A client whose messages nobody reads cannot answer.
    if (!this.#isAlive && !this.#ws.isPaused) return this.#ws.terminate()
    this.#isAlive = false
    if (this.isOpen && this.#hasRoom(0, this.#alone)) this.#ws.ping()
  }

  /** Ends a socket whose client does not read. @returns false if `added` bytes are too many for it. */
  #hasRoom(added: number, beyond = 0): boolean {
    if (this.buffered + added <= this.bounds.maxBuffered + beyond) return true
    this.finish(CLOSES.slow)
    setTimeout(() => this.#ws.terminate(), SLOW).unref()
    return false
  }

  /** Ends the wait of the handler when the socket ends. */
  protected wake(): void {
    this.#wakeWith(undefined)
    for (const resolve of this.#whenDrained?.splice(0) ?? []) resolve()
  }

  #wakeWith(text: string | undefined): void {
    const waker = this.#wake
    this.#wake = undefined
    waker?.(this.#read(text))
  }

  /** Returns the next message, when there is one. */
  next(): Promise<IteratorResult<unknown, void>> {
    return Promise.resolve(this.#read(this.#waiting?.shift()))
  }

  #read(text: string | undefined): Read {
    if (text === undefined) return this.isOpen ? this.#wait() : { done: true, value: undefined }
    if (this.#ws.isPaused && (this.#waiting?.length ?? 0) <= FEW_WAITING) this.#ws.resume()
    try {
      const value = this.route.read!(text)
      if (!(value instanceof Promise)) return { done: false, value }
      return value.then(
        (settled: unknown) => ({ done: false, value: settled }),
        (error: unknown) => this.#readAfter(error),
      )
    } catch (error) {
      return this.#readAfter(error)
    }
  }

  /** Refuses an invalid message. @throws an error that is not the client's. */
  async #readAfter(error: unknown): Promise<IteratorResult<unknown, void>> {
    if (!isHttpError(error)) throw error
    this.report(error)
    if (this.bounds.invalid === 'close') this.finish(CLOSES.invalid)
    return this.next()
  }

  #wait(): Promise<IteratorResult<unknown, void>> {
    const other = this.#wake
    return new Promise((resolve) => {
      this.#wake =
        other === undefined
          ? resolve
          : (result) => {
              other(result)
              resolve(this.next())
            }
    })
  }

  #write(text: string): void {
    // A message alone may be larger than the bound.
    const isAlone = this.buffered === 0
    if (!isAlone && !this.#hasRoom(text.length)) return
    this.#ws.send(text)
    if (isAlone) this.#alone = this.buffered
  }
}
