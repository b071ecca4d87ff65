/*
 * The undocumented parts of pg 8 on which this brick relies:
 *
 * 1. `client.connection.stream` is the socket, `client.connection` tells the server's messages `errorMessage`,
 *    `parameterStatus` and `readyForQuery`, and `client` its event `drain` when the server owes nothing. Fallback: a pool
 *    without the watch of silent connections.
 * 2. `client.getStartupConf()` returns the settings that are sent with the start of a session. Fallback: the documented
 *    option `options`, which some poolers refuse.
 * 3. `client.processID` is the server's number of the session. Fallback: the server counts as one that hides it.
 * 4. `pool.options` and `pool.Client` of pg-pool are its settings, whose password is hidden, and its class of clients.
 *    Fallback: `mortar doctor` does not ask for the zone of the server.
 *
 * test/plugins/database/drifted-packages.test.ts renames each of them in a copy of pg.
 */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

const ignore = (): void => undefined

/** A client with the undocumented parts. */
export interface PgInsides {
  readonly connection: ServerMessages & { readonly stream: Socket }
  readonly processID: number | null
  getStartupConf(): object
}

/** The messages of PostgreSQL to a connection. */
export interface ServerMessages {
  on(event: 'errorMessage', listener: (error: { readonly code?: string }) => void): unknown
  on(event: 'parameterStatus', listener: (status: ParameterStatus) => void): unknown
  on(event: 'readyForQuery', listener: (session: { readonly status: string }) => void): unknown
}

interface ParameterStatus {
  readonly parameterName: string
  readonly parameterValue: string
}

interface PgOptions {
  readonly options?: string | undefined
}

interface PgClient extends PgInsides {
  connect(callback: (error: Error | null | undefined) => void): unknown
  on(event: string, listener: () => void): unknown
  query(text: string, callback: () => void): unknown
}

// oxlint-disable-next-line typescript/no-explicit-any -- the arguments of a class that is extended
type ClientClass = new (...args: any[]) => PgClient

interface PgModule {
  readonly Client: ClientClass
}

/** Returns the socket of a client. TLS may replace it. */
export function socketOf({ connection }: PgInsides): Socket {
  return connection.stream
}

/** True if a client has this number on the server. Behind a pooler it has another one. */
export function hasSession({ processID }: PgInsides, session: number): boolean {
  return processID === session
}

/** True if a client shows its socket, the messages of the server and that it owes nothing. */
export function canWatchPg({ Client }: PgModule): boolean {
  const told: unknown[] = []
  const { client, socket } = probeClient(Client)
  try {
    const { connection } = client
    if (!isSocket(new Client({}).connection.stream) || (connection.stream as Duplex) !== socket) return false
    connection.on('parameterStatus', ({ parameterName, parameterValue }) =>
      told.push(parameterName, parameterValue),
    )
    connection.on('readyForQuery', ({ status }) => told.push(status))
    connection.on('errorMessage', ({ code }) => told.push(code))
    client.connect(ignore)
    socket.emit('connect')
    socket.emit('data', Buffer.concat([message('R', '\0\0\0\0'), message('S', 'a\0b\0'), READY]))
    client.on('drain', () => told.push('drain'))
    client.query('', ignore)
    socket.emit('data', Buffer.concat([message('E', 'C25006\0\0'), READY]))
    return told.join(' ') === 'a b I 25006 I drain'
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** A message of the server: its type, its length and its content. */
function message(type: string, content: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(content.length + length.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)])
}

const READY = message('Z', 'I')

/** True for a value with the members of a socket that the watch uses. */
function isSocket(value: unknown): boolean {
  const { once, destroy, isPaused, bytesRead } = (value ?? {}) as Partial<Socket>
  return (
    [once, destroy, isPaused].every((member) => typeof member === 'function') && typeof bytesRead === 'number'
  )
}

/** Settings of a session by name. */
type Settings = Readonly<Record<string, string>>

/** Returns a class of clients whose sessions start with these settings. */
export function withSettings<Class extends ClientClass>(Client: Class, settings: Settings): Class {
  return sendsSettings(Client) ? withStart(Client, settings) : withOption(Client, settings)
}

/** True if `getStartupConf()` decides what a client sends first. */
export function sendsSettings(Client: ClientClass): boolean {
  const { client, socket, sent } = probeClient(withStart(Client, { mortar: 'probe' }))
  try {
    client.connect(ignore)
    socket.emit('connect')
    const start = Buffer.concat(sent)
    return start.includes('mortar\0probe') && start.includes('user\0x')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Makes a client without a server. Its socket keeps what the client sends. */
function probeClient(Client: ClientClass) {
  const sent: Buffer[] = []
  const write = (chunk: Buffer, _encoding: BufferEncoding, done: () => void): void => {
    sent.push(chunk)
    done()
  }
  const socket = Object.assign(new Duplex({ read: ignore, write }), {
    connect: ignore,
    setNoDelay: ignore,
    setKeepAlive: ignore,
  })
  socket.on('error', ignore)
  const client = new Client({ host: 'localhost', user: 'x', database: 'x', ssl: false, stream: () => socket })
  client.on('error', ignore)
  return { client, socket, sent }
}

function withStart<Class extends ClientClass>(Client: Class, settings: Settings): Class {
  return class extends Client {
    override getStartupConf(): object {
      return { ...super.getStartupConf(), ...settings }
    }
  }
}

function withOption<Class extends ClientClass>(Client: Class, settings: Settings): Class {
  const own = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  return class extends Client {
    // oxlint-disable-next-line typescript/no-explicit-any -- TypeScript asks for it in a class of this kind
    constructor(...args: any[]) {
      const [given] = args as [PgOptions | undefined]
      super({ ...given, options: [...(given?.options ? [given.options] : []), ...own].join(' ') })
    }
  }
}

/** A connection beside the pool. */
interface PlainClient {
  connect(): Promise<unknown>
  query(sql: string): Promise<{ readonly rows: readonly unknown[] }>
  end(): Promise<void>
}

interface PoolInsides {
  readonly options?: { readonly password?: unknown }
  readonly Client?: new (options: object) => PlainClient
}

/** Makes a client of the driver's own class with the settings of a pool; undefined if the pool keeps them elsewhere. */
export function clientBeside(pool: object = {}): PlainClient | undefined {
  const { options, Client } = pool as PoolInsides
  if (options === undefined || Client === undefined) return undefined
  const Plain = plainClass(Client)
  // The pool hides the password from enumeration.
  return new Plain({ ...options, password: options.password })
}

/** The class of the driver, below the classes of this brick that set the zone of their sessions. */
function plainClass(Client: NonNullable<PoolInsides['Client']>): NonNullable<PoolInsides['Client']> {
  const parent = Object.getPrototypeOf(Client) as { readonly prototype?: object }
  const isClient = parent.prototype !== undefined && 'connect' in parent.prototype
  return isClient ? plainClass(parent as NonNullable<PoolInsides['Client']>) : Client
}
