import type { EventEmitter } from 'node:events'

/**
 * The parts of Node's cluster (Node 20 to 26) that are not documented:
 * - the primary process sends to a worker by `worker.process.send(message, handle)`, and gets the messages of the
 *   worker's own cluster module as the event `internalMessage` of `worker.process`;
 * - these messages have `cmd: 'NODE_CLUSTER'`; a worker sends `act: 'listening'`, and a reply has `ack`, the `seq` of
 *   its request;
 * - a new connection is a message with `act: 'newconn'` and `seq`, and its handle, which has `close()`.
 *
 * Every worker checks them at its start. Checked by test/compat/cluster.test.ts.
 */
interface ClusterMessage {
  readonly cmd?: string
  readonly act?: string
  readonly seq?: number
  readonly ack?: number
}

interface Closable {
  close?(): void
}

/** A worker, as far as its connections need it. */
export interface ConnectedWorker {
  readonly process: EventEmitter & { send(...given: never[]): boolean }
  once(event: 'listening', listener: () => void): unknown
}

/**
 * Closes the connections that a worker has not accepted when it is killed. Node's primary process keeps its own copy of
 * a connection until the worker accepts it. If the worker dies before, the connection stays open without a response.
 * If Node's messages differ, this does nothing.
 * @param warn called once for each worker whose messages differ.
 */
export function closeUnacknowledged(worker: ConnectedWorker, warn: (found: string) => void = warnOnce): void {
  const child = worker.process
  const waiting = new Map<number, Closable>()
  const seen = { listening: false, reply: false }
  let isUsable = true
  const giveUp = (found: string): void => {
    if (!isUsable) return
    isUsable = false
    waiting.clear()
    warn(found)
  }
  const send = child.send.bind(child) as (...given: unknown[]) => boolean
  child.send = (...given: unknown[]) => {
    const [message, handle] = given as [ClusterMessage | undefined, Closable | undefined]
    if (message?.cmd === COMMAND && message.ack !== undefined) seen.reply = true
    if (isUsable && isHandle(handle)) {
      if (isConnection(message, handle)) waiting.set(message.seq, handle)
      else giveUp('the message about a new connection')
    }
    return send(...given)
  }
  child.on('internalMessage', (message: ClusterMessage | undefined) => {
    if (message?.cmd !== COMMAND) return
    if (message.act === 'listening') seen.listening = true
    if (message.ack !== undefined) waiting.delete(message.ack)
  })
  // Node's own listener, which emits this event, comes before the one above.
  worker.once('listening', () =>
    setImmediate(() => {
      if (!seen.listening) giveUp('the messages of a worker')
      else if (!seen.reply) giveUp('the replies to a worker')
    }),
  )
  child.once('exit', () => {
    for (const handle of waiting.values()) handle.close?.()
    waiting.clear()
  })
}

const COMMAND = 'NODE_CLUSTER'

function isHandle(handle: unknown): handle is object {
  return typeof handle === 'object' && handle !== null
}

function isConnection(
  message: ClusterMessage | undefined,
  handle: Closable,
): message is ClusterMessage & { readonly seq: number } {
  const isNew = message?.cmd === COMMAND && message.act === 'newconn'
  return isNew && typeof message.seq === 'number' && typeof handle.close === 'function'
}

let hasWarned = false

function warnOnce(found: string): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(
    `This version of Node differs in ${found}. If a worker is killed, some of its connections may stay open.`,
    { code: 'CLUSTER_DIFFERS' },
  )
}
