/*
 * One event of a channel to many subscribers beside a loop over sockets of ws: CPU of the server for each message to all of
 * them. Run: node --import tsx bench/fan-out.ts [sockets]
 */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { beside, type Server } from './beside.ts'

const SOCKETS = Number(process.argv[2] ?? 1000)
const MESSAGES = 100

await beside('fan-out.js', ['mortar', 'ws'], {
  async [`µs of CPU for a message to ${SOCKETS} subscribers`](server) {
    let left = 0
    let done = (): void => undefined
    const receive = (data: unknown): void => {
      if ((data as Buffer).includes('"event"') && --left === 0) done()
    }
    const sockets: WebSocket[] = []
    for (let index = 0; index < SOCKETS; index++) sockets.push((await open(server)).on('message', receive))
    const send = async (count: number): Promise<void> => {
      for (let number = 0; number < count; number++) {
        left = SOCKETS
        const received = new Promise<void>((resolve) => {
          done = resolve
        })
        server.act(number)
        await received
      }
    }
    await send(20)
    const before = await server.usage()
    await send(MESSAGES)
    const after = await server.usage()
    for (const socket of sockets) socket.terminate()
    await wait(200)
    return (after.cpu - before.cpu) / MESSAGES
  },
})

async function open({ name, port }: Server): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/channels`)
  await once(socket, 'open')
  if (name === 'ws') return socket
  socket.send('{"subscribe":"news"}')
  await once(socket, 'message')
  return socket
}
