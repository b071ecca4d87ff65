import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy in front of a server, which can lose every byte without closing a connection, as a lost node or NAT does. */
export interface SilentProxy {
  readonly port: number
  /** Loses all bytes from now on. Connections that exist then stay dead for ever. */
  silence(): void
  /** Serves new connections again. */
  heal(): void
  close(): void
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startSilentProxy(to: {
  readonly host: string
  readonly port: number
}): Promise<SilentProxy> {
  const sockets = new Set<Socket>()
  const dead = new WeakSet<Socket>()
  let isSilent = false
  const pipe = (from: Socket, into: Socket): void => {
    sockets.add(from)
    from.on('data', (chunk) => isSilent || dead.has(from) || into.write(chunk))
    from.on('error', () => from.destroy())
    from.on('close', () => {
      sockets.delete(from)
      // The end of a connection is lost as well.
      if (!isSilent && !dead.has(from)) into.destroy()
    })
  }
  const server = createServer((client) => {
    const upstream = connect(to.port, to.host)
    pipe(client, upstream)
    pipe(upstream, client)
    if (isSilent) for (const socket of [client, upstream]) dead.add(socket)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      isSilent = true
      for (const socket of sockets) dead.add(socket)
    },
    heal: () => (isSilent = false),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
