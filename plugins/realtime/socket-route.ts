import type { IncomingMessage } from 'node:http'
import type { Context, Schema } from 'mortar'
import { BadRequest } from 'mortar'
import {
  brokenRules,
  compileJsonReader,
  compileSerializer,
  Invalid,
  type ReadJson,
  type TakenConnection,
} from 'mortar/kit'
import { type Server, WebSocketServer } from 'ws'
import { ConnectedSocket } from './connected-socket.ts'
import type { Bounds } from './options.ts'
import type { Socket } from './socket.ts'

/** A socket route, apart from its path and its guard. */
export interface SocketRouteParts {
  readonly receive: Schema | undefined
  readonly send: Schema | undefined
  /** The bounds that the route sets for its own. */
  readonly bounds: Partial<Bounds>
  readonly isLogged: boolean
  readonly handler: (ctx: Context, socket: Socket<unknown>) => unknown
}

/** State that the sockets of a route share. */
export interface SocketRouteRuntime extends Pick<SocketRouteParts, 'isLogged' | 'handler'> {
  /** Undefined for a route without `receive`. */
  readonly read: ReadJson | undefined
  /** Returns the text of a message. @throws TypeError if it does not match the schema. */
  readonly write: (message: unknown) => string
  /** Returns the bounds in an application with these defaults. */
  readonly boundsIn: (defaults: Bounds) => Bounds
  /** Sends the response 101. @throws BadRequest for a handshake that is not valid. */
  readonly shake: (connection: TakenConnection, bounds: Bounds) => ConnectedSocket
}

/** Most fragments of one message. */
const FRAGMENTS = 1024
/** Matches headers that only the handshake needs. A socket keeps the others as long as it is open. */
const OF_HANDSHAKE = /^(?:connection|upgrade|sec-websocket-(?:key|version|extensions))$/
/** Milliseconds for a client to confirm the end of a socket. */
const CLOSING = 5000

export function createSocketRoute(parts: SocketRouteParts): SocketRouteRuntime {
  const servers = new WeakMap<Bounds, SocketServer>()
  const merged = new WeakMap<Bounds, Bounds>()
  return {
    isLogged: parts.isLogged,
    handler: parts.handler,
    read: parts.receive && compileJsonReader(parts.receive),
    write: writer(parts.send),
    boundsIn: (defaults) => remembered(merged, defaults, () => ({ ...defaults, ...parts.bounds })),
    shake: (connection, bounds) =>
      shake(
        remembered(servers, bounds, () => createServer(bounds)),
        connection,
      ),
  }
}

function remembered<Key extends object, Value extends object>(
  known: WeakMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}

type SocketServer = Server<typeof ConnectedSocket>

function createServer({ maxMessage, compress }: Bounds): SocketServer {
  // Two options are newer than the types of the package.
  const newer: object = { maxFragments: FRAGMENTS, closeTimeout: CLOSING }
  return new WebSocketServer({
    noServer: true,
    WebSocket: ConnectedSocket,
    clientTracking: false,
    // The socket counts pings before it sends pongs.
    autoPong: false,
    maxPayload: maxMessage,
    perMessageDeflate: compress,
    ...newer,
  })
}

function shake(server: SocketServer, { req, socket, head, headers }: TakenConnection): ConnectedSocket {
  let made: ConnectedSocket | undefined
  let reason = 'The client disconnected.'
  const addHeaders = (lines: string[]): void =>
    void lines.push(...headers.map(([name, value]) => `${name}: ${value}`))
  const noteError = (error: Error, _socket: unknown, _req: IncomingMessage): void =>
    void (reason = `${error.message}.`)
  server.once('headers', addHeaders).once('wsClientError', noteError)
  server.handleUpgrade(req, socket, head, (ws) => void (made = ws))
  server.off('headers', addHeaders).off('wsClientError', noteError)
  if (made === undefined) throw new BadRequest(`The handshake is not valid: ${reason}`)
  const kept = Object.entries(req.headers).filter(([name]) => !OF_HANDSHAKE.test(name))
  req.headers = Object.fromEntries(kept)
  return made
}

function writer(schema: Schema | undefined): SocketRouteRuntime['write'] {
  if (schema === undefined) return textOf
  const serialize = compileSerializer(schema)
  return (message) => {
    const text = serialize(message)
    if (typeof text === 'string') return text
    if (text instanceof Invalid)
      throw new TypeError(`A message to the client does not match its schema: ${brokenRules(text)}.`)
    throw new TypeError('The schema `send` of a socket is asynchronous. Make the message before it is sent.')
  }
}

function textOf(message: unknown): string {
  const text = JSON.stringify(message) as string | undefined
  if (text === undefined)
    throw new TypeError(`A message to the client is ${typeof message}, which JSON cannot express.`)
  return text
}
