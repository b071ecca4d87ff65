import type { ChildProcess } from 'node:child_process'

/** Messages between Node's primary process and a worker about a new connection. */
interface ConnectionMessage {
  readonly cmd?: string
  readonly act?: string
  readonly seq?: number
  readonly ack?: number
}

interface Closable {
  close?(): void
}

/**
 * Closes the connections that a worker has not accepted when it is killed. Node's primary process keeps its own copy of
 * a connection until the worker accepts it. If the worker dies before, the connection stays open without a response.
 * If Node changes these messages, nothing happens here. Checked by test/compat/cluster.test.ts.
 */
export function closeUnacknowledged(worker: ChildProcess): void {
  const waiting = new Map<number, Closable>()
  const send = worker.send.bind(worker) as (...given: unknown[]) => boolean
  worker.send = (...given: unknown[]) => {
    const [message, handle] = given as [ConnectionMessage, Closable | undefined]
    if (message?.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && message.seq !== undefined && handle)
      waiting.set(message.seq, handle)
    return send(...given)
  }
  worker.on('internalMessage', ({ ack }: ConnectionMessage) => {
    if (ack !== undefined) waiting.delete(ack)
  })
  worker.once('exit', () => {
    for (const handle of waiting.values()) handle.close?.()
    waiting.clear()
  })
}
