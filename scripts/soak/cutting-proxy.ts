import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A TCP proxy that breaks or slows its connections in the ways in which a network does. */
export interface NetworkFaults {
  readonly port: number
  /** Resets every connection, and every new one for `ms` milliseconds. */
  cut(ms: number): Promise<void>
  /** Drops all bytes for `ms` milliseconds without closing anything; the connections of this time stay silent. */
  silence(ms: number): Promise<void>
  /** Delays the bytes of each direction by `latency` milliseconds for `ms` milliseconds. */
  slow(ms: number, latency: number): Promise<void>
  stop(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  silent: boolean
  readonly delay: () => number
}

/** Starts a proxy on a free port in front of `target`. */
export async function startProxy(target: number): Promise<NetworkFaults> {
  const pairs = new Set<Pair>()
  let state: 'open' | 'cut' | 'silent' = 'open'
  let delay = 0
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (state === 'cut') return reset(client)
    const pair = connect(client, target, { silent: state === 'silent', delay: () => delay })
    pairs.add(pair)
    client.once('close', () => pairs.delete(pair))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    async cut(ms) {
      state = 'cut'
      for (const pair of pairs) destroy(pair)
      await wait(ms)
      state = 'open'
    },
    async silence(ms) {
      state = 'silent'
      for (const pair of pairs) pair.silent = true
      await wait(ms)
      state = 'open'
    },
    async slow(ms, latency) {
      delay = latency
      await wait(ms)
      delay = 0
    },
    async stop() {
      for (const pair of pairs) destroy(pair)
      listener.close()
      await once(listener, 'close')
    },
  }
}

function connect(client: Socket, port: number, state: Pick<Pair, 'silent' | 'delay'>): Pair {
  const server = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true })
  const pair = { client, server, ...state }
  forward(pair, client, server)
  forward(pair, server, client)
  return pair
}

function forward(pair: Pair, from: Socket, to: Socket): void {
  let last = Promise.resolve()
  const pass = (act: () => void): void => {
    const due = Date.now() + pair.delay()
    last = last.then(async () => {
      if (due > Date.now()) await wait(due - Date.now())
      if (!pair.silent) act()
    })
  }
  from.on('data', (chunk) => pass(() => to.write(chunk)))
  from.on('end', () => pass(() => to.end()))
  from.on('error', () => undefined)
  from.on('close', () => pass(() => to.destroy()))
}

function destroy({ client, server }: Pair): void {
  reset(client)
  server.destroy()
}

/** Ends a connection with a reset, or without one if its end is on its way: Node would report EINVAL, and leave it open. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
