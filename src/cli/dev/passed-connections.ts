import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { LISTEN, type ListenRequest } from '../../app/serve/server.ts'
import { promiseWithResolvers } from '../../support/thenable.ts'
import { tell, type ToServer } from './messages.ts'

/** The servers of this process, whose connections come from the watching process. */
export interface PassedConnections {
  /** Closes every connection after a second, which requests in progress have to finish. */
  limit(): void
}

/** Milliseconds for requests in progress. */
const LONGEST = 1000

/**
 * Makes `listen()` use addresses of the watching process, which passes every connection to this process. Unix sockets
 * are not passed.
 */
export function acceptPassedConnections(): PassedConnections {
  const servers = new Map<string, PassedServer>()
  subscribe(LISTEN, (message) => {
    const request = message as ListenRequest
    if ('path' in request.address) return
    const { port, host } = request.address
    const id = `${servers.size} ${host ?? ''} ${port}`
    const passed = passedServer(request.server)
    servers.set(id, passed)
    request.bound = passed.bound
    const isTls = 'setSecureContext' in request.server
    tell({ type: 'listen', id, port, host, isTls })
  })
  process.on('message', (message: ToServer, socket: Socket | undefined) => {
    if (message.type === 'connection') tell({ type: 'accepted', number: message.number })
    if ('id' in message) servers.get(message.id)?.receive(message, socket)
  })
  return {
    limit() {
      setTimeout(() => {
        for (const { sockets } of servers.values()) for (const socket of sockets) socket.destroy()
      }, LONGEST).unref()
    },
  }
}

type PassedServer = ReturnType<typeof passedServer>

/** The part of a server that Node does not have, because the server does not listen itself. */
interface PassedState {
  readonly sockets: Set<Socket>
  address: object | null
  /** Called when the server is closed and its last connection has ended. */
  readonly closed: Set<() => void>
}

/** Lets a server that does not listen itself behave as one that does. */
function passedServer(server: Server) {
  const state: PassedState = { sockets: new Set(), address: null, closed: new Set() }
  const { promise: bound, resolve, reject } = promiseWithResolvers()
  replaceMethods(server, state)
  // A request on an idle connection would be lost when this process ends, while a new connection waits for the next one.
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  return {
    sockets: state.sockets,
    bound,
    receive(message: ToServer, socket: Socket | undefined) {
      if (message.type === 'listening') {
        state.address = message.address
        resolve()
      } else if (message.type === 'refused')
        reject(Object.assign(new Error(message.message), { code: message.code }))
      else if (socket !== undefined) accept(server, socket, state)
    },
  }
}

function replaceMethods(server: Server, state: PassedState): void {
  Object.defineProperty(server, 'listening', { get: () => state.address !== null, configurable: true })
  Object.assign(server, {
    address: () => state.address,
    getConnections: (callback: (error: null, count: number) => void) => callback(null, state.sockets.size),
    close(callback?: () => void) {
      state.address = null
      state.closed.add(() => {
        callback?.()
        server.emit('close')
      })
      setImmediate(() => checkClosed(state))
      return server
    },
  })
}

function accept(server: Server, socket: Socket, state: PassedState): void {
  state.sockets.add(socket)
  socket.once('close', () => {
    state.sockets.delete(socket)
    checkClosed(state)
  })
  socket.setNoDelay(true)
  server.emit('connection', socket)
}

function checkClosed({ address, sockets, closed }: PassedState): void {
  if (address !== null || sockets.size > 0) return
  for (const callback of closed) callback()
  closed.clear()
}
