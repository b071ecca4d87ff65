/*
 * Many sockets of one process: the delay of echoes beside each disturbance and without it, and the end of all sockets.
 * `turn` is the most CPU of one turn of the event loop in milliseconds, `rss` in megabytes.
 * Run: node --import tsx --conditions=source scripts/soak/sockets.ts [sockets] [seconds]
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp, createRouter, defineBrick, singleton, type Authenticator } from 'mortar'
import { defineSocket, realtime, type Realtime } from '@mortar/realtime'
import { object, string } from 'mortar/yup'
import { WebSocket } from 'ws'

const SOCKETS = Number(process.argv[2]) || 10_000
const SECONDS = Number(process.argv[3]) || 5

const cpu = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1000

async function serve(): Promise<void> {
  const message = object({ text: string().required() })
  const watchers = new Set<() => void>()
  const authenticator: Authenticator = {
    identify: ({ token }) => (token === 'key' ? { id: 'ada', raw: {} } : null),
    watch(_credential, _request, onEnd) {
      watchers.add(onEnd)
      return () => watchers.delete(onEnd)
    },
    policies: {},
    securityScheme: { name: 'key', scheme: { type: 'http', scheme: 'bearer' } },
  }
  const echo = defineSocket({ auth: true, receive: message, send: message }, async (_ctx, socket) => {
    for await (const each of socket) socket.send(each)
  })
  const flood = defineSocket({ auth: true }, async (_ctx, socket) => {
    for (; socket.isOpen; await wait(20)) socket.send('x'.repeat(50_000))
  })
  const app = createApp({ logger: false, environment: 'test' })
    .use(defineBrick({ name: 'key', services: { authenticator: singleton(() => authenticator) } }))
    .use(realtime({ socketsPerClient: 1e6, sockets: 2 * SOCKETS + 1000, ping: '5s' }))
    .use(createRouter().get('/echo', echo).get('/flood', flood))
  const { port } = await app.listen(0, '127.0.0.1')
  let longest = 0
  let last = cpu()
  const follow = (): void => {
    longest = Math.max(longest, cpu() - last)
    last = cpu()
    setImmediate(follow)
  }
  follow()
  process.on('message', (order) => {
    const { size: open, closed } = app.services.realtime as Realtime & { closed?: Map<string, number> }
    const [rss, turn] = [process.memoryUsage().rss / 1e6, longest].map(Math.round)
    process.send!({ turn, rss, open, closed: Object.fromEntries(closed!) })
    longest = 0
    if (order === 'end') for (const onEnd of watchers) onEnd()
    if (order === 'close') void app.close()
  })
  process.send!(port)
}

const handshake = (path: string, key = 'key'): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
  `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${key}\r\n\r\n`

/** A connection that sends a handshake, reads the head of its response alone, and sends the bytes. */
async function raw(port: number, text: string, bytes = Buffer.alloc(0)): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(text)
  await once(socket, 'readable')
  socket.write(bytes)
  return socket
}

const text = Buffer.from([0x81, 0x8c, 0, 0, 0, 0, ...Buffer.from('{"text":"a"}')])
const broken = Buffer.from([0xf3, 0x80, 0, 0, 0, 0])
const DISTURBANCES: Readonly<Record<string, (port: number) => Promise<Socket>>> = {
  'slow readers': (port) => raw(port, handshake('/flood')),
  'half-open peers': (port) => raw(port, handshake('/echo')),
  'floods of messages': (port) => raw(port, handshake('/echo'), Buffer.alloc(500 * text.length, text)),
  'broken frames': (port) => raw(port, handshake('/echo'), broken),
  'refused handshakes': (port) => raw(port, handshake('/echo', 'wrong')),
}

/** Disturbs until the process is killed, with some clients at the same time. */
async function disturb(name: string, port: number): Promise<void> {
  const clients = Array.from({ length: 50 }, async () => {
    for (;;) {
      const socket = await DISTURBANCES[name]!(port)
      await wait(50)
      if (['slow readers', 'half-open peers'].includes(name)) await once(socket, 'close')
      else socket.destroy()
    }
  })
  await Promise.all(clients)
}

/** Milliseconds of the delays of echoes: median, 99th percentile, longest. */
async function delays(sockets: readonly WebSocket[]): Promise<string> {
  const found: number[] = []
  const until = performance.now() + SECONDS * 1000
  while (performance.now() < until) {
    for (const socket of sockets) {
      const begun = performance.now()
      socket.send('{"text":"a"}')
      await once(socket, 'message')
      found.push(performance.now() - begun)
    }
    await wait(20)
  }
  const sorted = found.toSorted((one, other) => one - other)
  const shares = [0.5, 0.99, 1].map((share) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(1))
  return shares.join(' / ')
}

/** Starts a process with sockets, and ends them by an order. */
async function endAll(order: string): Promise<void> {
  const server = start('serve')
  const [port] = (await once(server, 'message')) as [number]
  const ask = async (given: string): Promise<string> => {
    server.send(given)
    return JSON.stringify((await once(server, 'message'))[0])
  }
  const headers = { authorization: 'Bearer key' }
  const sockets: WebSocket[] = []
  for (let index = 0; index < SOCKETS; index++) {
    sockets.push(new WebSocket(`ws://127.0.0.1:${port}/echo`, { headers }))
    if (index % 100 === 99) await once(sockets[index]!, 'open')
  }
  console.log(`${SOCKETS} sockets: ${await ask('report')}`)
  const some = sockets.slice(0, 20)
  for (const name of order === 'end' ? Object.keys(DISTURBANCES) : []) {
    const without = await delays(some)
    await ask('report')
    const child = start('disturb', name, String(port))
    console.log(`${name}: ${await delays(some)} ms, without ${without} ms; ${await ask('report')}`)
    child.kill('SIGKILL')
  }
  const begun = performance.now()
  const ends = sockets.map(async (socket) => String((await once(socket, 'close'))[0]))
  await ask(order)
  const codes = new Set(await Promise.all(ends))
  console.log(
    `${order}: ${Math.round(performance.now() - begun)} ms, ${[...codes].join()}; ${await ask('report')}`,
  )
  server.kill('SIGKILL')
}

const start = (...args: string[]): ChildProcess => fork(import.meta.filename, args)
const [role, name, port] = process.argv.slice(2)
if (role === 'serve') await serve()
else if (role === 'disturb') await disturb(name!, Number(port))
else for (const order of ['end', 'close']) await endAll(order)
