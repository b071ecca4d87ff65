import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpError } from '../errors/http-error.ts'
import { forgetClosed, whenClosed } from '../support/when-closed.ts'

/** The connection of a request that asks for another protocol (RFC 9110 §7.8). */
export interface HeldConnection {
  /** The name of the protocol in lower case: `websocket`. */
  readonly protocol: string
  readonly socket: Duplex
  /** Bytes that arrived after the headers. */
  readonly head: Buffer
  /** True once the application drains: it changes no further protocol. */
  readonly isDraining: () => boolean
}

/** A connection, as `begin` of a `Takeover` receives it. */
export interface TakenConnection extends Pick<HeldConnection, 'socket' | 'head'> {
  readonly req: IncomingMessage
  /** Names and values of the headers that the response 101 has besides those of the protocol. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** Code that uses the connection of a request for another protocol, after middleware and handler have ended. */
export interface Takeover {
  /**
   * Sends the response 101 before it returns, and reports to `life` from then on.
   * @throws before it has written anything; the error becomes the response.
   */
  begin(connection: TakenConnection, life: ConnectionLife): void
  /** Ends the connection: with a 401 because its session has ended, with a 503 because the application closes. */
  end(reason: HttpError): void
}

/** Receives the reports of a takeover. */
export interface ConnectionLife {
  /** The connection is closed: `ctx.signal` aborts. */
  closed(): void
  /** The connection is closed, and the work on it has ended: scoped services are disposed of. */
  ended(): void
}

const HELD = Symbol('mortar.held-connection')

/** A property, because the entries of a WeakMap make each garbage collection longer. */
type HeldRequest = IncomingMessage & { [HELD]?: Held | undefined }

interface Held extends HeldConnection {
  readonly whenReleased: (() => void)[]
}

/** Stores the connection of a request until `releaseConnection`. */
export function holdConnection(req: HeldRequest, connection: HeldConnection): void {
  req[HELD] = { ...connection, whenReleased: [] }
}

/** Returns the connection of an upgrade request; undefined for every other request. */
export function heldConnection(req: HeldRequest): HeldConnection | undefined {
  return req[HELD]
}

const TAKEN = Symbol('mortar.taken')

/** A connection that another protocol may use. */
type Connection = Duplex & { [TAKEN]?: boolean }

/** True for a connection that another protocol uses, and that has not been asked to end. */
export function isTaken(connection: Connection): boolean {
  return connection[TAKEN] === true
}

/** Notes whether another protocol uses a connection. */
export function markTaken(connection: Connection, isUsed: boolean): void {
  connection[TAKEN] = isUsed
}

/** Forgets the connection, which belongs to another protocol now. */
export function releaseConnection(req: HeldRequest): void {
  const waiting = req[HELD]?.whenReleased ?? []
  req[HELD] = undefined
  for (const done of waiting) done()
}

/** Calls `done` when the connection of an upgrade request belongs to another protocol. */
export function whenReleased(req: HeldRequest, done: () => void): void {
  req[HELD]?.whenReleased.push(done)
}

/** Calls `done` once: when the response is closed, or when its connection belongs to another protocol. */
export function whenAnswered(req: HeldRequest, res: ServerResponse, done: () => void): void {
  const held = req[HELD]
  // The connection may have been released in the same turn.
  if (held === undefined) return HELD in req ? done() : whenClosed(req, res, done)
  let isDone = false
  const once = (): void => {
    forgetClosed(res, once)
    if (!isDone) done()
    isDone = true
  }
  held.whenReleased.push(once)
  whenClosed(req, res, once)
}
