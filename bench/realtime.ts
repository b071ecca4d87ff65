/*
 * Sockets of @mortar/realtime beside those of ws alone, each in a process of its own: heap for each idle socket, and echoed
 * messages per second of CPU. Run: node --expose-gc --import tsx --conditions=source bench/realtime.ts [sockets]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp, createRouter } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import { object, string } from 'mortar/yup'
import { WebSocket, WebSocketServer } from 'ws'

const SOCKETS = Number(process.argv[2] ?? 1000)
const MESSAGES = 40_000
const BATCH = 16

const message = object({ text: string().required() })

const SERVERS: Readonly<Record<string, () => Promise<number>>> = {
  async ws() {
    const server = createServer()
    const sockets = new WebSocketServer({ server, maxPayload: 65_536 })
    sockets.on('connection', (socket) => {
      socket.on('message', (data) => socket.send(JSON.stringify(JSON.parse((data as Buffer).toString()))))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  },
  async mortar() {
    const limits = { messageRate: 1e9, socketsPerClient: 1e6, sockets: 1e6 }
    const route = defineSocket({ receive: message, send: message }, async (_ctx, socket) => {
      for await (const each of socket) socket.send(each)
    })
    const app = createApp({ logger: false, environment: 'production', openapi: false })
      .use(realtime(limits))
      .use(createRouter().get('/', route))
    return (await app.listen(0, '127.0.0.1')).port
  },
}

interface Measured {
  readonly heap: number
  readonly cpu: number
}

async function serve(name: string): Promise<void> {
  const port = await SERVERS[name]!()
  const measured = (): Measured => {
    globalThis.gc!()
    const { user, system } = process.cpuUsage()
    return { heap: process.memoryUsage().heapUsed, cpu: user + system }
  }
  process.on('message', () => process.send!(measured()))
  process.send!(port)
}

async function measure(name: string): Promise<{ readonly heap: number; readonly rate: number }> {
  const child = fork(import.meta.filename, ['serve', name])
  const ask = async (): Promise<Measured> => {
    child.send('measure')
    return ((await once(child, 'message')) as [Measured])[0]
  }
  const [port] = (await once(child, 'message')) as [number]
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`)
    await once(socket, 'open')
    return socket
  }
  const first = await open()
  await echo(first, 2000)
  const before = await ask()
  const idle: WebSocket[] = []
  for (let index = 0; index < SOCKETS; index++) idle.push(await open())
  await wait(500)
  const after = await ask()
  await echo(first, MESSAGES)
  const done = await ask()
  child.kill()
  for (const socket of [first, ...idle]) socket.terminate()
  return { heap: (after.heap - before.heap) / SOCKETS, rate: MESSAGES / ((done.cpu - after.cpu) / 1e6) }
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

if (process.argv[2] === 'serve') await serve(process.argv[3]!)
else {
  const [own, alone] = [await measure('mortar'), await measure('ws')]
  const line = (name: string, { heap, rate }: typeof own): string =>
    `${name.padEnd(8)} ${(heap / 1024).toFixed(1).padStart(6)} KiB of heap a socket ${Math.round(rate)} echoes a second of CPU`
  process.stdout.write(`${line('mortar', own)}\n${line('ws', alone)}\n`)
  process.stdout.write(
    `heap ${(own.heap / alone.heap).toFixed(2)} ×, echoes ${(own.rate / alone.rate).toFixed(2)} ×\n`,
  )
}
