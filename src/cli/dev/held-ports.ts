import type { ChildProcess } from 'node:child_process'
import { createServer, type Server, type Socket } from 'node:net'
import { ignore } from '../../support/ignore.ts'
import type { AddressRequest, ToServer } from './messages.ts'
import { passConnection } from './pass-connection.ts'
import { refuseConnection } from './refuse-connection.ts'

/** The listening addresses of the application, which stay open while its process is replaced. */
export type HeldPorts = ReturnType<typeof createHeldPorts>

/** Milliseconds that a connection waits at most. */
const PATIENCE = 30_000

interface Port {
  readonly id: string
  readonly server: Server
  readonly isTls: boolean
  /** Connections that neither `child` nor `refusal` has responded to. */
  readonly waiting: Map<Socket, NodeJS.Timeout>
  child?: ChildProcess | undefined
  refusal?: string | undefined
  isClosed?: boolean
}

export function createHeldPorts() {
  const ports = new Map<string, Port>()
  const closePort = (id: string, port: Port): void => {
    ports.delete(id)
    end(port)
  }

  return {
    /** Opens an address, unless it is open already, and passes its connections to the process. */
    pass(request: AddressRequest, child: ChildProcess) {
      const { id, isTls } = request
      const known = ports.get(id)
      if (known?.isTls === isTls) return welcome(known, child)
      if (known !== undefined) closePort(id, known)
      open(request, child, (port) => {
        ports.set(id, port)
        welcome(port, child)
      })
    },
    /** Keeps new connections until a process asks for them, for at most half a minute. */
    hold() {
      for (const port of ports.values()) direct(port, {})
    },
    /** Responds to every connection with a problem document of this text until `hold()`. */
    refuse(refusal: string) {
      for (const port of ports.values()) direct(port, { refusal })
    },
    /** Closes the addresses that the process has not asked for. */
    closeOthers(child: ChildProcess) {
      for (const [id, port] of ports) if (port.child !== child) closePort(id, port)
    },
    close() {
      for (const [id, port] of ports) closePort(id, port)
    },
  }
}

/** Opens an address, or tells the process that asked why that is not possible. */
function open(
  { id, isTls, port: number, host }: AddressRequest,
  child: ChildProcess,
  opened: (port: Port) => void,
): void {
  // Paused, so that no byte is read before the process that serves the connection has it.
  const server = createServer({ pauseOnConnect: true, noDelay: true })
  const port: Port = { id, server, isTls, waiting: new Map() }
  server.on('connection', (socket) => accept(port, socket))
  server.once('error', ({ code = '', message }: NodeJS.ErrnoException) =>
    send(child, { type: 'refused', id, code, message }),
  )
  server.listen({ port: number, ...(host === undefined ? {} : { host }) }, () => opened(port))
}

function welcome(port: Port, child: ChildProcess): void {
  send(child, { type: 'listening', id: port.id, address: port.server.address() as object })
  direct(port, { child })
}

/** Sets the receiver of the connections, and passes on those that wait. */
function direct(port: Port, { child, refusal }: Pick<Port, 'child' | 'refusal'>): void {
  port.child = child
  port.refusal = refusal
  if (child === undefined && refusal === undefined) return
  const waiting = [...port.waiting]
  port.waiting.clear()
  for (const [socket, timer] of waiting) {
    clearTimeout(timer)
    accept(port, socket)
  }
}

function accept(port: Port, socket: Socket): void {
  const { id, child, refusal, waiting, isTls, isClosed } = port
  socket.on('error', ignore)
  if (child?.connected === true) passConnection(child, { id, socket, returned: () => accept(port, socket) })
  else if (isClosed) socket.destroy()
  else if (refusal !== undefined) refuseConnection(socket, { text: refusal, isTls })
  else waiting.set(socket, setTimeout(() => giveUp(port, socket), PATIENCE).unref())
}

function end(port: Port): void {
  const { server, waiting } = port
  port.isClosed = true
  server.close()
  for (const [socket, timer] of waiting) {
    clearTimeout(timer)
    socket.destroy()
  }
}

function giveUp(port: Port, socket: Socket): void {
  port.waiting.delete(socket)
  const seconds = PATIENCE / 1000
  refuseConnection(socket, {
    isTls: port.isTls,
    text: `The application has not started within ${seconds} s.`,
  })
}

/** A process that has just ended cannot be sent anything, which is not an error. */
function send(child: ChildProcess, message: ToServer): void {
  if (child.connected) child.send(message, ignore)
}
