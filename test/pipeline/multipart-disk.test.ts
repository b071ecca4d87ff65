import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, file, type Logger, type Middleware } from 'mortar'
import { object } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { chunkedPost, disposition, multipart, temporaryFiles } from '../support/multipart.ts'
import { rawRequest } from '../support/raw-request.ts'

const { createWriteStream } = fs
const hash = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')
const DISK_FAULTS = [
  ['ENOSPC', 'no space left on device'],
  ['EDQUOT', 'disk quota exceeded'],
] as const

/** Calls `before` in front of each write to a file; its error is the result of the write. */
function setDisk(before: () => Promise<Error | undefined>): void {
  const writeLater = async (given: readonly unknown[]): Promise<void> => {
    const finish = given.at(-1) as (error: Error) => void
    const error = await before()
    if (error === undefined) Reflect.apply(fs.write, fs, given)
    else finish(error)
  }
  const write = (...given: readonly unknown[]): void => void writeLater(given)
  fs.createWriteStream = (path, options) =>
    createWriteStream(path, {
      ...(options as object),
      fs: { open: fs.open, close: fs.close, write },
    })
  syncBuiltinESMExports()
}

const routes = () =>
  createRouter()
    .post('/', { body: object({ f: file().required() }), bodyLimit: '8mb' }, ({ body: { f } }) =>
      hash(fs.readFileSync(f.filepath)),
    )
    .get('/next', () => 'the next response')

const formOf = (bytes: Buffer): Buffer =>
  Buffer.from(multipart([disposition('name="f"; filename="f"'), bytes.toString('latin1')]), 'latin1')
const content = randomBytes(1_500_000)
const form = formOf(content)
const silent: Omit<Logger, 'child' | 'error'> = { debug: () => {}, info: () => {}, warn: () => {} }

describe('A multipart form', () => {
  afterEach(() => {
    fs.createWriteStream = createWriteStream
    syncBuiltinESMExports()
  })

  throughBothAdapters((open) => {
    const serve = async (middleware: Middleware, logger: Logger | false = false) => {
      const { url } = await open(createApp({ logger }).use(middleware).use(routes()))
      return Number(new URL(url).port)
    }

    for (const size of [100, 4096, 5000, 60_000])
      it(`is not read faster than a slow disk writes, in pieces of ${size} bytes`, async () => {
        const released = deferred<undefined>()
        const asked = deferred()
        setDisk(() => {
          asked.resolve()
          return released.promise
        })
        const begun = deferred<IncomingMessage>()
        const port = await serve(({ koa: { req } }, next) => {
          begun.resolve(req)
          return next()
        })
        const response = rawRequest(port, chunkedPost('/', form, size))
        await asked.promise
        expect(await whenQuiet((await begun.promise).socket)).to.be.below(700_000)
        released.resolve(undefined)
        expect((await response).text).to.contain(hash(content))
      })

    // A small file fails when its form has ended already.
    for (const size of [1, 60_000, 1_500_000])
      for (const [code, reason] of DISK_FAULTS)
        it(`of ${size} bytes is 503 after ${code}, with one line in the log, and the connection serves on`, async () => {
          setDisk(() => Promise.resolve(Object.assign(new Error(`${code}: ${reason}, write`), { code })))
          const errors: string[] = []
          const logger: Logger = {
            ...silent,
            error: (...given) => void errors.push(given.join(' ')),
            child: () => logger,
          }
          const port = await serve((_, next) => next(), logger)
          const post = chunkedPost('/', formOf(content.subarray(0, size)), 5000)
            .toString('latin1')
            .replace('Connection: close\r\n', '')
          const next = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
          const { status, text } = await rawRequest(port, post + post + next)
          expect([status, text.includes('the next response')]).to.deep.equal([503, true])
          expect(text.match(/"code":"uploads_unavailable"/g)).to.have.length(2)
          expect(text).not.to.contain(tmpdir())
          expect(errors).to.have.length(1)
          expect(errors[0]).to.contain(`${tmpdir()}: ${code}: ${reason}`)
          expect(temporaryFiles()).to.deep.equal([])
        })

    it('is 503 when the folder was removed after the start', async () => {
      const folder = fs.mkdtempSync(join(tmpdir(), 'removed-'))
      const app = createApp({ logger: false, multipart: { folder } }).use(routes())
      await app.ready()
      const { url } = await open(app)
      fs.rmdirSync(folder)
      // A file without content fails only when it is closed.
      for (const bytes of [content, Buffer.alloc(0)]) {
        const post = chunkedPost('/', formOf(bytes), 5000)
        const { status, text } = await rawRequest(Number(new URL(url).port), post)
        expect([status, text.includes('uploads_unavailable')]).to.deep.equal([503, true])
      }
    })

    const rest = 'x'.repeat(200_000)
    for (const [what, refused, expected] of [
      ['too large', multipart([disposition('name="f"; filename="f"'), 'x'.repeat(9_000_000)]), 413],
      ['malformed', multipart(['No colon', rest]), 400],
      [
        'of too many files',
        multipart(...Array.from({ length: 11 }, () => [disposition('filename="f"'), ''] as const)) + rest,
        413,
      ],
    ] as const)
      it(`that is ${what} is not read on while a middleware waits`, async () => {
        let flowing: boolean | null | undefined
        const port = await serve(async ({ koa: { req } }, next) => {
          try {
            return await next()
          } finally {
            flowing = req.readableFlowing
          }
        })
        const { status } = await rawRequest(port, chunkedPost('/', refused, 100))
        expect(status).to.equal(expected)
        expect(flowing).not.to.equal(true)
      })

    for (const [when, sent] of [
      ['before its form is read', 0],
      ['in the middle of its form', 700_000],
      ['after its form, which is still being written', Infinity],
    ] as const)
      it(`ends with 400 for the middleware of a client that leaves ${when}`, async () => {
        const begun = deferred<IncomingMessage>()
        const ended = deferred<unknown>()
        const [asked, released] = [deferred(), deferred<undefined>()]
        if (sent === Infinity)
          setDisk(() => {
            asked.resolve()
            return released.promise
          })
        else asked.resolve()
        const port = await serve(async ({ koa: { req }, signal }, next) => {
          begun.resolve(req)
          if (sent === 0 && !signal.aborted) await once(signal, 'abort')
          return next().then(ended.resolve, (error: unknown) => {
            ended.resolve(error)
            throw error
          })
        })
        const socket = connect(port, '127.0.0.1')
        const post = chunkedPost('/', sent === Infinity ? formOf(content.subarray(0, 1000)) : form, 5000)
        socket.write(post.subarray(0, sent || post.indexOf('\r\n\r\n') + 4))
        const { socket: connection } = await begun.promise
        if (sent > 0) while (temporaryFiles().length === 0) await wait(5)
        await asked.promise
        socket.destroy()
        while (!connection.destroyed) await wait(1)
        released.resolve(undefined)
        expect(await ended.promise).to.include({ status: 400, message: 'The client disconnected.' })
        while (temporaryFiles().length > 0) await wait(5)
      })
  })
})

/** Waits until the server reads nothing more. Resolves with the bytes that it has read. */
async function whenQuiet(socket: Socket): Promise<number> {
  for (let before = -1; before !== socket.bytesRead;) {
    before = socket.bytesRead
    await wait(100)
  }
  return socket.bytesRead
}
