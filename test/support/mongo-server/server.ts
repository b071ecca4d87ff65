/*
 * A stand-in for MongoDB that speaks its wire protocol, for machines where no MongoDB can be had: the official
 * driver and TypeORM run against it unmodified. bson reads and writes the documents, mingo understands the queries.
 * It has no transactions, sessions, replication, authentication, change streams, TTL or collations.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { Clocks, ServerState } from './command-table.ts'
import { runCommand } from './commands.ts'
import { Cursors } from './cursors.ts'
import { Databases } from './databases.ts'
import { Faults } from './faults.ts'
import { readRequest, takeMessages, writeReply } from './wire.ts'

/** A server that runs in this process. */
export interface MongoServer {
  /** `mongodb://127.0.0.1:port`, or with the path of a socket in place of the address. */
  readonly url: string
  close(): Promise<void>
}

/** The server in this process, with the failures that a test plans. */
export interface StandIn extends MongoServer {
  readonly faults: Faults
  readonly clocks: Clocks
}

interface FaultyState extends ServerState {
  readonly faults: Faults
}

/** Starts an empty server on a free port, or on a socket of this path, which takes a twentieth less CPU time. */
export async function startMongoServer(path?: string): Promise<StandIn> {
  const faults = new Faults()
  const clocks = { frontEnd: 0, database: 0 }
  const state: FaultyState = { databases: new Databases(), cursors: new Cursors(), faults, clocks }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)))
    serve(socket, state)
  })
  await new Promise<void>((resolve) => {
    server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path }, resolve)
  })
  const address = server.address()!
  const host = typeof address === 'string' ? encodeURIComponent(address) : `127.0.0.1:${address.port}`
  const close = () => closeServer(server, sockets)
  return { url: `mongodb://${host}`, faults, clocks, close }
}

function serve(socket: Socket, state: FaultyState): void {
  let arrived: Buffer = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    try {
      const { messages, rest } = takeMessages(Buffer.concat([arrived, chunk]))
      arrived = rest
      for (const message of messages) answer(socket, state, message)
    } catch {
      // Bytes that are not a protocol message end the connection, as in MongoDB.
      socket.destroy()
    }
  })
}

function answer(socket: Socket, state: FaultyState, message: Buffer): void {
  const request = readRequest(message)
  const { command } = request
  const fault = state.faults.take(command)
  if (fault === 'silence') return
  if (fault === 'lost command') return void socket.destroy()
  const reply = typeof fault === 'object' ? fault.reply : runCommand(state, command)
  if (fault === 'lost reply') return void socket.destroy()
  if (request.wantsReply) socket.write(writeReply(request, state.faults.word(command, reply)))
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise((resolve) => {
    server.close(resolve)
  })
  for (const socket of sockets) socket.destroy()
  await closed
}
