/*
 * Sockets of @mortar/realtime beside those of ws alone: heap for each idle socket, and CPU for each echoed message.
 * Run: node --import tsx bench/realtime.ts [sockets]
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { beside, heapOfEach, type Server } from './beside.ts'

const SOCKETS = Number(process.argv[2] ?? 1000)
const MESSAGES = 20_000
const BATCH = 16

await beside('realtime.js', ['mortar', 'ws'], {
  async [`KiB of heap for each of ${SOCKETS} idle sockets`](server) {
    const first = await open(server)
    await echo(first, 2000)
    const heap = await heapOfEach(server, {
      count: SOCKETS,
      open: () => open(server),
      close: (socket) => socket.terminate(),
    })
    first.terminate()
    return heap
  },
  async 'µs of CPU for an echo'(server) {
    const socket = await open(server)
    await echo(socket, 2000)
    const before = await server.usage()
    await echo(socket, MESSAGES)
    const after = await server.usage()
    socket.terminate()
    return (after.cpu - before.cpu) / MESSAGES
  },
})

async function open({ port }: Server): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`)
  await once(socket, 'open')
  return socket
}

/** Sends messages and waits for their echoes, some of them at the same time. */
async function echo(socket: WebSocket, count: number): Promise<void> {
  const text = JSON.stringify({ text: 'a message of a chat, as people write it' })
  for (let sent = 0; sent < count; sent += BATCH) {
    let left = BATCH
    const answered = new Promise<void>((resolve) => {
      socket.removeAllListeners('message').on('message', () => --left === 0 && resolve())
    })
    for (let index = 0; index < BATCH; index++) socket.send(text)
    await answered
  }
}
