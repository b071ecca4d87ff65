/*
 * Uploads to the disk beside @fastify/multipart (to the disk and to memory), busboy and koa-body: CPU for each form.
 * Needs `npm ci --prefix bench`. Run: node --import tsx bench/uploads.ts [peer …]
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { beside, type Measure, type Server } from './beside.ts'

const PEERS = ['fastify', 'fastify-buffer', 'busboy', 'koa-body']

/** The bytes of a POST, in chunks of `size` bytes if there is one, and the bytes of its files. */
interface Form {
  readonly post: Buffer
  readonly size: number
}

const FORMS: Readonly<Record<string, { readonly form: Form; readonly count: number }>> = {
  'a file of 1 MB': { form: formOf(fileOf(1_000_000)), count: 100 },
  'a file of 10 MB': { form: formOf(fileOf(10_000_000)), count: 15 },
  'a file of 1 MB in pieces of 1 KB': { form: formOf(fileOf(1_000_000), 1000), count: 60 },
  'ten small fields': { form: formOf(fields()), count: 1500 },
}
const figures = Object.fromEntries(
  Object.entries(FORMS).map(([name, { form, count }]) => [`µs of CPU for ${name}`, costOf(form, count)]),
)

const asked = process.argv.slice(2)
for (const peer of asked.length === 0 ? PEERS : asked) await beside('uploads.js', ['mortar', peer], figures)

function costOf(form: Form, count: number): Measure {
  return async (server) => {
    await send(Math.ceil(count / 5), form, server)
    const before = await server.usage()
    await send(count, form, server)
    const after = await server.usage()
    return (after.cpu - before.cpu) / count
  }
}

interface Content {
  readonly bytes: Buffer
  readonly size: number
}

function fileOf(size: number): Content {
  // Not compressible, without a repeated byte that a search could skip.
  const content = Buffer.from(Array.from({ length: size }, (_, at) => (at * 2_654_435_761) >>> 24))
  const head = 'Content-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: image/png'
  return {
    bytes: Buffer.concat([Buffer.from(`--XX\r\n${head}\r\n\r\n`), content, Buffer.from('\r\n--XX--\r\n')]),
    size,
  }
}

function fields(): Content {
  const parts = Array.from(
    { length: 10 },
    (_, at) =>
      `--XX\r\nContent-Disposition: form-data; name="field${at}"\r\n\r\nthe value of field ${at}\r\n`,
  )
  return { bytes: Buffer.from(`${parts.join('')}--XX--\r\n`), size: 0 }
}

function formOf({ bytes, size }: Content, piece?: number): Form {
  const length = piece === undefined ? `Content-Length: ${bytes.length}` : 'Transfer-Encoding: chunked'
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=XX\r\n${length}\r\n\r\n`
  const body = piece === undefined ? [bytes] : chunksOf(bytes, piece)
  return { post: Buffer.concat([Buffer.from(head), ...body]), size }
}

function chunksOf(bytes: Buffer, size: number): Buffer[] {
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => {
    const chunk = bytes.subarray(at * size, (at + 1) * size)
    return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')])
  })
  return [...chunks, Buffer.from('0\r\n\r\n')]
}

/** Sends forms one after the other on one connection. @throws Error for a response without the bytes of the files. */
async function send(count: number, { post, size }: Form, { name, port }: Server): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  for (let index = 0; index < count; index++) {
    socket.write(post)
    let text = ''
    while (!text.includes(`\r\n\r\n${size}`)) {
      text += String((await once(socket, 'data'))[0])
      if (!text.startsWith('HTTP/1.1 200')) throw new Error(`${name} responded: ${text}`)
    }
  }
  socket.destroy()
}
