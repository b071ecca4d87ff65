/*
 * Streams as responses beside node:http alone: heap for each open stream of events, and CPU for each file of 1 MB.
 * Run: node --import tsx bench/streams.ts [streams]
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { beside, heapOfEach, type Server } from './beside.ts'

const STREAMS = Number(process.argv[2] ?? 5000)
const FILES = 100
const SIZE = 1_000_000

const folder = mkdtempSync(join(tmpdir(), 'mortar-bench-'))
process.env['BENCH_FILE'] = join(folder, 'file.bin')
writeFileSync(process.env['BENCH_FILE'], Buffer.alloc(SIZE, 'x'))
const agent = new Agent({ keepAlive: true })

await beside('streams.js', ['mortar', 'node'], {
  async [`KiB of heap for each of ${STREAMS} open streams of events`](server) {
    const first = await open(server)
    await wait(100)
    const heap = await heapOfEach(server, {
      count: STREAMS,
      open: () => open(server),
      close: (socket) => socket.destroy(),
    })
    first.destroy()
    return heap
  },
  async 'µs of CPU for a file of 1 MB'(server) {
    await download(10, server)
    const before = await server.usage()
    await download(FILES, server)
    const after = await server.usage()
    return (after.cpu - before.cpu) / FILES
  },
})
agent.destroy()
rmSync(folder, { recursive: true })

async function open({ port }: Server): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  for (let text = ''; !text.includes('hello');) text += String((await once(socket, 'data'))[0])
  return socket
}

async function download(count: number, { port }: Server): Promise<void> {
  for (let index = 0; index < count; index++) {
    const request = get({ port, host: '127.0.0.1', path: '/file', agent })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let bytes = 0
    for await (const chunk of response) bytes += (chunk as Buffer).length
    if (bytes !== SIZE) throw new Error(`A file had ${bytes} bytes.`)
  }
}
