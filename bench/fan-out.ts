/*
 * One event of a channel to many subscribers beside a loop over sockets of ws, each in a process of its own: CPU of the
 * server for each message to all of them. Run: node --import tsx --conditions=source bench/fan-out.ts [sockets]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createApp } from 'mortar'
import { realtime } from '@mortar/realtime'
import { channels, type Channel } from '@mortar/realtime/channels'
import { WebSocket, WebSocketServer } from 'ws'

const SOCKETS = Number(process.argv[2] ?? 1000)
const MESSAGES = 200
const TEXT = 'a message of a chat, as people write it'

interface Server {
  readonly port: number
  send(number: number): Promise<void>
}

const SERVERS: Readonly<Record<string, () => Promise<Server>>> = {
  async ws() {
    const server = createServer()
    const sockets = new WebSocketServer({ server })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    return {
      port,
      async send(number) {
        const fields = {
          type: 'event',
          channel: 'news',
          event: 'said',
          id: `0123456789ab.1700000000000.${number}`,
        }
        const text = JSON.stringify({ ...fields, data: { text: TEXT } })
        for (const socket of sockets.clients) socket.send(text)
      },
    }
  },
  async mortar() {
    const directory = mkdtempSync(join(import.meta.dirname, 'channels-'))
    const file = join(directory, 'news.ts')
    writeFileSync(
      file,
      `import { channel } from '@mortar/realtime/channels'
      import { object, string } from 'mortar/yup'
      export default channel({ auth: false, events: { said: object({ text: string().required() }) } })`,
    )
    const app = createApp({ logger: false, environment: 'production', openapi: false })
      .use(realtime({ socketsPerClient: 1e6, sockets: 1e6 }))
      .use(channels({ directory }))
    const { port } = await app.listen(0, '127.0.0.1')
    const { default: news } = (await import(pathToFileURL(file).href)) as {
      readonly default: Channel<undefined>
    }
    rmSync(directory, { recursive: true })
    return { port, send: () => app.services.channels.publish(news(), 'said', { text: TEXT }) }
  },
}

async function serve(name: string): Promise<void> {
  const { port, send } = await SERVERS[name]!()
  process.on('message', (number: number) => {
    const { user, system } = process.cpuUsage()
    if (number < 0) process.send!(user + system)
    else void send(number)
  })
  process.send!(port)
}

/** Returns microseconds of CPU for each message to all sockets. */
async function measure(name: string): Promise<number> {
  const child = fork(import.meta.filename, ['serve', name])
  const [port] = (await once(child, 'message')) as [number]
  const sockets: WebSocket[] = []
  let left = 0
  let done = (): void => undefined
  for (let index = 0; index < SOCKETS; index++) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/channels`)
    await once(socket, 'open')
    if (name === 'mortar') {
      socket.send('{"subscribe":"news"}')
      await once(socket, 'message')
    }
    socket.on('message', (data) => {
      if ((data as Buffer).includes('"event"') && --left === 0) done()
    })
    sockets.push(socket)
  }
  const send = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number++) {
      left = SOCKETS
      const received = new Promise<void>((resolve) => {
        done = resolve
      })
      child.send(number)
      await received
    }
  }
  const cpu = async (): Promise<number> => {
    child.send(-1)
    return ((await once(child, 'message')) as [number])[0]
  }
  await send(50)
  const before = await cpu()
  await send(MESSAGES)
  const after = await cpu()
  for (const socket of sockets) socket.terminate()
  child.kill()
  return (after - before) / MESSAGES
}

if (process.argv[2] === 'serve') await serve(process.argv[3]!)
else {
  const ratios: number[] = []
  for (let round = 0; round < 5; round++) {
    const [own, alone] = [await measure('mortar'), await measure('ws')]
    ratios.push(own / alone)
    process.stdout.write(
      `${Math.round(own)} µs of CPU a message to ${SOCKETS} subscribers, ws ${Math.round(alone)} µs: ${(own / alone).toFixed(2)} ×\n`,
    )
  }
  process.stdout.write(`median ${ratios.toSorted((one, other) => one - other)[2]!.toFixed(2)} ×\n`)
}
