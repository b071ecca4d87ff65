import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import fs, { appendFile, mkdtemp, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, sendFile } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'

const TEXT = 'abcdefghijklmnopqrstuvwxyz'

describe('sendFile and files that change', () => {
  let folder: string
  const at = (name: string): string => join(folder, name)
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'send-file-changes-'))
    await writeFile(at('a.txt'), TEXT)
    await writeFile(at('empty.txt'), '')
  })
  after(() => rm(folder, { recursive: true }))

  throughBothAdapters((open) => {
    const serve = () =>
      open(
        createApp({ logger: false }).use(
          createRouter().get('/:name', (ctx) => sendFile(ctx, ctx.params['name'], { root: folder })),
        ),
      )
    /** The bytes of a response as they arrive, until the connection ends. */
    const received = async (url: string, path: string, onFirst?: () => Promise<void>): Promise<Buffer> => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.on('error', () => {})
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      await once(socket, 'readable')
      await onFirst?.()
      const chunks: Buffer[] = []
      for await (const chunk of socket) chunks.push(chunk as Buffer)
      const all = Buffer.concat(chunks)
      return all.subarray(all.indexOf('\r\n\r\n') + 4)
    }

    it('sends the length of the headers if the file grows meanwhile', async () => {
      const content = Buffer.alloc(12_000_000, 'x')
      await writeFile(at('growing'), content)
      const { url } = await serve()
      const body = await received(url, '/growing', () => appendFile(at('growing'), 'more'))
      expect(body.equals(content)).to.equal(true)
    })

    it('closes the connection if the file becomes shorter, or a source has another length', async () => {
      await writeFile(at('shrinking'), Buffer.alloc(30_000_000))
      const { url } = await serve()
      const body = await received(url, '/shrinking', () => truncate(at('shrinking'), 1))
      expect(body.length).to.be.lessThan(30_000_000)
      for (const found of ['ab', 'abcd']) {
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) => sendFile(ctx, { size: 3, open: () => Readable.from([found]) })),
        )
        const { fetch } = await open(app)
        const text = fetch('/').then((response) => response.text())
        expect(await text.catch(() => 'cut off')).to.satisfy(
          (got: string) => got === 'cut off' || got.includes('500'),
        )
      }
    })

    it('never sends more bytes of a source than its size, and closes the connection', async () => {
      async function* slowly(chunks: readonly string[]) {
        for (const text of chunks) {
          yield Buffer.from(text)
          await wait(20)
        }
      }
      for (const chunks of [['abc', 'd'], ['abcd'], ['ab', 'cd', 'e']]) {
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) =>
            sendFile(ctx, { size: 3, open: () => Readable.from(slowly(chunks)) }),
          ),
        )
        const { url } = await open(app)
        expect((await received(url, '/')).toString()).not.to.match(/^abcd/)
      }
    })

    it('sends an empty file', async () => {
      const { fetch } = await serve()
      for (const method of ['GET', 'HEAD']) {
        const response = await fetch('/empty.txt', { method })
        expect([
          response.status,
          response.headers.get('content-length'),
          await response.text(),
        ]).to.deep.equal([200, '0', ''])
      }
    })

    it('sends no Last-Modified in the future', async () => {
      const later = new Date(Date.now() + 86_400_000)
      await writeFile(at('future.txt'), TEXT)
      await utimes(at('future.txt'), later, later)
      const { fetch } = await serve()
      const { headers } = await fetch('/future.txt')
      const sent = Date.parse(headers.get('last-modified')!)
      expect(headers.get('etag')).to.match(/^W\//)
      expect(sent).to.be.within(Date.now() - 60_000, Date.now())
    })

    it('has a strong entity tag that changes with the size and with a fraction of a millisecond', async () => {
      const { fetch } = await serve()
      const tags = new Set<string | null>()
      for (const [content, time] of [
        ['a', 1_700_000_000.0001],
        ['b', 1_700_000_000.0001],
        ['a', 1_700_000_000.0002],
        ['ab', 1_700_000_000.0002],
      ] as const) {
        await writeFile(at('tagged.txt'), content)
        await utimes(at('tagged.txt'), time, time)
        tags.add((await fetch('/tagged.txt')).headers.get('etag'))
      }
      expect([...tags].join(' ')).to.match(/^("[\da-f-]+" ?){3}$/)
    })

    it('is a 404 for a named pipe, without waiting for its writer, and for a socket', async function () {
      if (process.platform === 'win32') this.skip()
      await rm(at('pipe'), { force: true })
      execFileSync('mkfifo', [at('pipe')])
      const { fetch } = await serve()
      expect((await fetch('/pipe')).status).to.equal(404)
      const listener = createServer().listen(at('socket'))
      await once(listener, 'listening')
      const { status } = await fetch('/socket')
      listener.close()
      expect(status).to.equal(404)
    })

    it('does not follow a link that takes the place of the file while it is opened', async () => {
      const outside = await mkdtemp(join(tmpdir(), 'send-file-outside-'))
      await writeFile(join(outside, 'secret.txt'), 'secret')
      await rm(at('swapped.txt'), { force: true })
      await writeFile(at('swapped.txt'), TEXT)
      const { fetch } = await serve()
      const swapping = { isOver: false }
      const swaps = (async () => {
        for (let index = 0; !swapping.isOver; index++) {
          const name = at(`next-${index}`)
          if (index % 2 === 0) await symlink(join(outside, 'secret.txt'), name)
          else await writeFile(name, TEXT)
          await rename(name, at('swapped.txt'))
        }
      })()
      const bodies = new Set<string>()
      for (let round = 0; round < 40; round++)
        for (const reply of await Promise.all(Array.from({ length: 5 }, () => fetch('/swapped.txt'))))
          bodies.add(reply.status === 200 ? await reply.text() : String(reply.status))
      swapping.isOver = true
      await swaps
      await rm(outside, { recursive: true })
      expect([...bodies].filter((body) => ![TEXT, '404'].includes(body))).to.deep.equal([])
    })

    it('is a 500 for a path that the server may not read', async () => {
      const { realpath } = fs
      const refused = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
      const { fetch } = await serve()
      Object.assign(fs, { realpath: () => Promise.reject(refused) })
      syncBuiltinESMExports()
      const { status } = await fetch('/a.txt').finally(() => {
        Object.assign(fs, { realpath })
        syncBuiltinESMExports()
      })
      expect(status).to.equal(500)
    })

    it('keeps the media type that the handler has set', async () => {
      const app = createApp({ logger: false }).use(
        createRouter().get('/', (ctx) => {
          ctx.type = 'text/markdown'
          return sendFile(ctx, at('a.txt'))
        }),
      )
      const { fetch } = await open(app)
      expect((await fetch('/')).headers.get('content-type')).to.equal('text/markdown; charset=utf-8')
    })

    it('opens no source for a client that has left', async () => {
      const began = deferred()
      const ended = deferred<unknown>()
      let opened = 0
      const source = {
        size: 3,
        open: () => {
          opened += 1
          return Buffer.from('abc')
        },
      }
      const app = createApp({ logger: false }).use(
        createRouter().get('/', async (ctx) => {
          began.resolve()
          if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
          return sendFile(ctx, source).catch((error: unknown) => {
            ended.resolve(error)
            throw error
          })
        }),
      )
      const { url } = await open(app)
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await began.promise
      socket.destroy()
      expect(await ended.promise).to.include({ code: 'client_closed_request' })
      expect(opened).to.equal(0)
    })
  })
})
