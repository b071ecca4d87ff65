import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A TCP proxy that can break its connections in the two ways in which a network does. */
export interface NetworkFaults {
  readonly port: number
  /** Resets every connection, and every new one for `ms` milliseconds. */
  cut(ms: number): Promise<void>
  /** Drops all bytes for `ms` milliseconds without closing anything; the connections of this time stay silent. */
  silence(ms: number): Promise<void>
  stop(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  silent: boolean
}

/** Starts a proxy on a free port in front of `target`. */
export async function startProxy(target: number): Promise<NetworkFaults> {
  const pairs = new Set<Pair>()
  let state: 'open' | 'cut' | 'silent' = 'open'
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (state === 'cut') return void client.resetAndDestroy()
    const pair = connect(client, target, state === 'silent')
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
    async stop() {
      for (const pair of pairs) destroy(pair)
      listener.close()
      await once(listener, 'close')
    },
  }
}

function connect(client: Socket, port: number, silent: boolean): Pair {
  const server = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true })
  const pair = { client, server, silent }
  forward(pair, client, server)
  forward(pair, server, client)
  return pair
}

function forward(pair: Pair, from: Socket, to: Socket): void {
  from.on('data', (chunk) => {
    if (!pair.silent) to.write(chunk)
  })
  from.on('end', () => {
    if (!pair.silent) to.end()
  })
  from.on('error', () => undefined)
  from.on('close', () => {
    if (!pair.silent) to.destroy()
  })
}

function destroy({ client, server }: Pair): void {
  client.resetAndDestroy()
  server.destroy()
}
