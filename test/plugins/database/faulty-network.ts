import { connect, createServer, type Server, type Socket } from 'node:net'
import { reset } from '../../../scripts/soak/cutting-proxy.ts'

/** A TCP proxy in front of a server, whose connections can die without a word. */
export interface FaultyNetwork {
  readonly port: number
  /** Number of connections that were opened to the proxy. */
  opened(): number
  /** Swallows all bytes. Every connection of that time stays dead, also after `heal()`. */
  silence(): void
  /** Lets new connections through. */
  heal(): void
  /** Delays every response from now on, in milliseconds. */
  delay(milliseconds: number): void
  /** Sends these bytes behind the next response, in the same packet. */
  append(bytes: Buffer): void
  /** Ends every connection with a reset. */
  cut(): void
  close(): Promise<void>
}

export async function faultyNetwork(target: { host: string; port: number }): Promise<FaultyNetwork> {
  const live = new Set<{ dead: boolean; sockets: Socket[] }>()
  /** Of dead connections too, whose far ends stay open. */
  const sockets = new Set<Socket>()
  let isSilent = false
  let latency = 0
  let opened = 0
  let appended = Buffer.alloc(0)
  const server = createServer({ allowHalfOpen: true }, (client) => {
    opened++
    const pair = { dead: isSilent, sockets: [client] }
    live.add(pair)
    sockets.add(client)
    client.on('error', () => undefined)
    client.on('close', () => {
      live.delete(pair)
      // The far side learns nothing of a connection that died.
      if (!pair.dead) for (const socket of pair.sockets) socket.destroy()
    })
    // A dead connection does not answer the end of the other side.
    client.on('end', () => pair.dead || client.end())
    if (pair.dead) return void client.resume()
    const upstream = connect(target.port, target.host)
    pair.sockets.push(upstream)
    sockets.add(upstream)
    upstream.on('error', () => undefined)
    upstream.on('close', () => pair.dead || client.destroy())
    client.on('data', (bytes) => pair.dead || upstream.write(bytes))
    const respond = (bytes: Buffer): void => {
      if (!pair.dead) client.write(Buffer.concat([bytes, appended]))
      appended = Buffer.alloc(0)
    }
    upstream.on('data', (bytes) => (latency === 0 ? respond(bytes) : setTimeout(respond, latency, bytes)))
  })
  await listening(server)
  const { port } = server.address() as { port: number }
  return {
    port,
    opened: () => opened,
    silence() {
      isSilent = true
      for (const pair of live) pair.dead = true
    },
    heal: () => void (isSilent = false),
    delay: (milliseconds) => void (latency = milliseconds),
    append: (bytes) => void (appended = Buffer.from(bytes)),
    cut: () => {
      for (const pair of live) reset(pair.sockets[0]!)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => {
        server.close(done)
      })
    },
  }
}

function listening(server: Server): Promise<unknown> {
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done(undefined))
  })
}
