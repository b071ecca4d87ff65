import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy in front of a server, which a test can cut or silence. */
export interface Proxy {
  readonly port: number
  /** Closes all connections and refuses new ones. */
  cut(): void
  /** Keeps connections open and forwards no more bytes. */
  silence(): void
  heal(): void
  /** Forwards new connections to another port, as a name that leads to another server after a failover. */
  lead(port: number): void
  close(): void
}

export async function startProxy(host: string, port: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'silent' = 'open'
  let target = port
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy()
    const upstream = connect(target, host)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => state === 'open' && to.write(bytes))
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      destroyAll()
    },
    silence: () => void (state = 'silent'),
    heal: () => void (state = 'open'),
    lead: (other) => void (target = other),
    close() {
      destroyAll()
      server.close()
    },
  }
}
