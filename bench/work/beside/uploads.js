/** Uploads: every file to the disk, each server by the means that its manual shows. Responds with the bytes of the files. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import fastifyMultipart from '@fastify/multipart'
import busboy from 'busboy'
import Fastify from 'fastify'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import { createApp, createRouter, UploadedFile } from 'mortar'
import { listen } from './listen.js'

const LIMIT = 20_000_000
const pathOf = () => join(tmpdir(), `bench-upload-${process.pid}-${randomUUID()}`)
const sum = (sizes) => String(sizes.reduce((all, size) => all + size, 0))

async function fastify(handler) {
  const app = Fastify({ bodyLimit: LIMIT })
  await app.register(fastifyMultipart, { limits: { fileSize: LIMIT } })
  app.post('/', handler)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: app.server.address().port }
}

async function throughBusboy(req, res) {
  const files = []
  const fields = {}
  const parser = busboy({ headers: req.headers, limits: { fileSize: LIMIT } })
    .on('field', (name, value) => (fields[name] = value))
    .on('file', (_name, stream) => {
      const path = pathOf()
      const target = createWriteStream(path)
      files.push({ path, target, written: pipeline(stream, target) })
    })
  await pipeline(req, parser)
  await Promise.all(files.map(({ written }) => written))
  res.end(sum(files.map(({ target }) => target.bytesWritten)))
  await Promise.all(files.map(({ path }) => unlink(path)))
}

export const servers = {
  async mortar() {
    const options = { consumes: ['multipart/form-data'], bodyLimit: LIMIT }
    const app = createApp({ logger: false, openapi: false }).use(
      createRouter().post('/', options, ({ body }) =>
        sum(Object.values(body).map((value) => (value instanceof UploadedFile ? value.size : 0))),
      ),
    )
    return app.listen(0, '127.0.0.1')
  },
  fastify: () =>
    fastify(async (request) => {
      const { files } = await request.saveRequestFiles()
      return sum(files.map(({ file }) => file.bytesRead))
    }),
  'fastify-buffer': () =>
    fastify(async (request) => {
      const sizes = []
      const fields = {}
      for await (const part of request.parts())
        if (part.type === 'file') sizes.push((await part.toBuffer()).length)
        else fields[part.fieldname] = part.value
      return sum(sizes)
    }),
  busboy: () => listen((req, res) => void throughBusboy(req, res)),
  async 'koa-body'() {
    const app = new Koa()
      .use(koaBody({ multipart: true, formidable: { maxFileSize: LIMIT } }))
      .use(async (ctx) => {
        const files = Object.values(ctx.request.files).flat()
        ctx.body = sum(files.map(({ size }) => size))
        ctx.res.once('close', () => void Promise.all(files.map(({ filepath }) => unlink(filepath))))
      })
    return listen(app.callback())
  },
}
