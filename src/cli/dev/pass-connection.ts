import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { ignore } from '../../support/ignore.ts'
import type { FromServer, ToServer } from './messages.ts'

/** A connection for a process. */
export interface Passed {
  /** The address, as in `AddressRequest`. */
  readonly id: string
  readonly socket: Socket
  /** Called if the process ends before it has accepted the connection. Nothing was read from it. */
  readonly returned: () => void
}

/** Connections on their way to a process, by number. */
type OnTheWay = Map<number, Passed>

const sent = new WeakMap<ChildProcess, OnTheWay>()
let count = 0

/**
 * Sends a connection to a process. This process keeps it open until the other one has accepted it: Node would neither
 * close nor return the connections that a process leaves unread, so that their clients would wait forever.
 */
export function passConnection(child: ChildProcess, passed: Passed): void {
  const onTheWay = sent.get(child) ?? follow(child)
  const number = ++count
  onTheWay.set(number, passed)
  const message: ToServer = { type: 'connection', id: passed.id, number }
  child.send(message, passed.socket, { keepOpen: true }, ignore)
}

function follow(child: ChildProcess): OnTheWay {
  const onTheWay: OnTheWay = new Map()
  sent.set(child, onTheWay)
  child.on('message', (message: FromServer) => {
    if (message.type !== 'accepted') return
    onTheWay.get(message.number)?.socket.destroy()
    onTheWay.delete(message.number)
  })
  // All of its messages have arrived by then.
  child.once('close', () => {
    for (const { returned } of onTheWay.values()) returned()
    onTheWay.clear()
  })
  return onTheWay
}
