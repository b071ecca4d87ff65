import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { createApp, createRouter, sendFile, type FileBytes, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { rawRequest } from '../support/raw-request.ts'

describe('a source that sendFile cannot send', () => {
  throughBothAdapters((open) => {
    it('lets no cache keep a failure for the lifetime of the file', async () => {
      const failing = {
        open: () => Promise.reject(new Error('The storage is down.')),
        empty: () => Promise.resolve(Buffer.alloc(0)),
      }
      const app = createApp({ logger: false }).use(
        createRouter().get('/:kind', (ctx) =>
          sendFile(
            ctx,
            { size: 3, open: failing[(ctx.params as { kind: keyof typeof failing }).kind] },
            { maxAge: '365d', immutable: true },
          ),
        ),
      )
      const { fetch } = await open(app)
      for (const kind of Object.keys(failing)) {
        const response = await fetch(`/${kind}`)
        expect([response.status, response.headers.get('cache-control')], kind).to.deep.equal([500, null])
      }
    })

    it('refuses a lastModified that is not a valid date', async () => {
      for (const [lastModified, found] of [
        [new Date(Number.NaN), 'an invalid Date'],
        ['2026-11-22', 'a string'],
      ] as const) {
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) =>
            sendFile(ctx, { size: 3, lastModified: lastModified as Date, open: () => Buffer.from('abc') }),
          ),
        )
        const response = await (await open(app)).fetch('/')
        expect(response.status).to.equal(500)
        expect(await response.text()).to.contain(`The lastModified of a file is ${found}, not a valid Date.`)
      }
    })

    it('refuses a size that is not a number of bytes', async () => {
      for (const size of [Number.NaN, undefined, -1, 1.5, Number.POSITIVE_INFINITY, '3']) {
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) =>
            sendFile(ctx, { size: size as number, open: () => Buffer.from('abc') }),
          ),
        )
        const { fetch } = await open(app)
        expect((await fetch('/', { method: 'HEAD' })).status, String(size)).to.equal(500)
        expect(await (await fetch('/')).text()).to.contain('The size of a file is')
      }
    })
  })

  throughBothAdapters((open) => {
    let released = deferred()
    beforeEach(() => (released = deferred()))
    /** Bytes without an end, or an error after the first of them. */
    async function* begun(error: Error | undefined): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          yield Buffer.alloc(100_000)
          if (error !== undefined) throw error
        }
      } finally {
        released.resolve()
      }
    }
    const serve = (make: (error: Error | undefined) => FileBytes, logger: Logger | false, error?: Error) =>
      open(
        createApp({ logger }).use(
          createRouter().get('/', (ctx) => sendFile(ctx, { size: 900_000_000, open: () => make(error) })),
        ),
      )

    for (const [kind, make] of [
      ['a stream', (error) => Readable.from(begun(error), { objectMode: false })],
      ['an iterable', begun],
      ['a web stream', (error) => Readable.toWeb(Readable.from(begun(error))) as ReadableStream<Uint8Array>],
    ] as readonly (readonly [string, (error: Error | undefined) => FileBytes])[]) {
      it(`cuts the response and logs the error of ${kind} that fails midway`, async () => {
        const errors: unknown[] = []
        const note = (fields: unknown): void => void errors.push((fields as { err?: Error }).err?.message)
        const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: note, child: () => logger }
        const { url } = await serve(make, logger, new Error('The storage is down.'))
        const port = Number(new URL(url).port)
        const { text, ending } = await rawRequest(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        expect([text.includes(' 500 '), ending === 'timeout']).to.deep.equal([false, false])
        expect(errors).to.deep.equal(['The storage is down.'])
      })

      it(`releases ${kind} whose client leaves midway`, async () => {
        const { url } = await serve(make, false)
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        await once(socket, 'readable')
        socket.destroy()
        await released.promise
      })
    }
  })
})
