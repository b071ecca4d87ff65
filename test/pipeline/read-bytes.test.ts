import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import { mock } from 'node:test'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync, createGunzip, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createApp, createRouter, fromKoa } from 'mortar'
import { deferred } from '../support/deferred.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { rawRequest } from '../support/raw-request.ts'

const TEN = '"12345678"'
const ELEVEN = '"123456789"'

describe('The bytes of a body', () => {
  throughBothAdapters((open) => {
    const serve = async () => {
      const left: Promise<void>[] = []
      const routes = createRouter()
        .post('/small', { bodyLimit: 10 }, (ctx) => ({ body: ctx.body }))
        .post('/late', { bodyLimit: 10 }, (ctx) => ({ body: ctx.body }))
        .post('/destroyed', () => 'read')
        .post('/thousand', { bodyLimit: 1000 }, () => 'read')
        .post('/echo', (ctx) => ({ body: ctx.body }))
      const app = createApp({ logger: false })
        .use(async (ctx, next) => {
          const end = deferred()
          left.push(end.promise)
          const { req } = ctx.koa
          if (ctx.path === '/late') while (!req.complete) await nextTurn()
          if (ctx.path === '/destroyed') process.nextTick(() => req.destroy())
          return next().finally(end.resolve)
        })
        .use(routes)
      const { fetch, url } = await open(app)
      const post = (path: string, body: NonNullable<RequestInit['body']>, encoding?: string) => {
        const headers: Record<string, string> = { 'content-type': 'application/json' }
        if (encoding !== undefined) headers['content-encoding'] = encoding
        return fetch(path, { method: 'POST', body, headers, duplex: 'half' })
      }
      return { post, left, port: Number(new URL(url).port) }
    }
    const head = (path: string, more: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n${more}\r\n\r\n`
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    const chunked = (...texts: string[]) =>
      [head('/small', 'Transfer-Encoding: chunked'), ...texts.map(chunk), '0\r\n\r\n'] as const

    it('are accepted up to the limit, in one chunk, in several and compressed', async () => {
      const { post, port } = await serve()
      for (const [body, status] of [
        [TEN, 200],
        [ELEVEN, 413],
      ] as const) {
        expect((await post('/small', body)).status).to.equal(status)
        const long = JSON.stringify('x'.repeat(body.length + 988))
        expect((await post('/thousand', gzipSync(long), 'gzip')).status, 'packed').to.equal(status)
        // More bytes than without an encoding, announced and in chunks.
        const stored = gzipSync(long, { level: 0 })
        for (const sent of [stored, new Blob([stored]).stream()])
          expect((await post('/thousand', sent, 'gzip')).status, 'stored').to.equal(status)
        const whole = chunked(body).join('')
        const pieces = chunked(body.slice(0, 4), body.slice(4))
        expect((await rawRequest(port, whole)).status, 'chunked').to.equal(status)
        expect((await rawRequest(port, pieces)).status, 'in pieces').to.equal(status)
        const late = whole.replace('/small', '/late')
        expect((await rawRequest(port, late)).status, 'all there').to.equal(status)
      }
    })

    it('are decoded by an encoding in upper or lower case; identity means no encoding', async () => {
      const { post } = await serve()
      for (const [encoding, bytes] of [
        ['GZIP', gzipSync('{}')],
        ['x-gzip', gzipSync('{}')],
        ['Br', brotliCompressSync('{}')],
        ['identity', '{}'],
        ['Identity', '{}'],
      ] as const)
        expect((await post('/echo', bytes, encoding)).status, encoding).to.equal(200)
      const refused = await post('/echo', '{}', 'zstd')
      expect([refused.status, refused.headers.get('accept-encoding')]).to.deep.equal([
        415,
        'gzip, deflate, br',
      ])
    })

    it('have the same limit compressed, so a body that expands to nothing is limited too', async () => {
      const { post } = await serve()
      const nothing = Buffer.concat(Array.from({ length: 100 }, () => gzipSync('')))
      expect((await post('/small', nothing, 'gzip')).status).to.equal(413)
      const random = JSON.stringify(randomBytes(748).toString('base64').slice(0, 998))
      expect((await post('/thousand', gzipSync(random), 'gzip')).status).to.equal(200)
    })

    it('compressed and beyond their limit keep no decoder until the garbage is collected', async () => {
      const { post } = await serve()
      const { mock: destroyed } = mock.method(Object.getPrototypeOf(createGunzip()) as Readable, '_destroy')
      const bomb = gzipSync(JSON.stringify('x'.repeat(100_000)))
      expect((await post('/thousand', bomb, 'gzip')).status).to.equal(413)
      mock.reset()
      expect(destroyed.callCount()).to.equal(1)
    })

    it('that break off leave no pending request, compressed or not', async () => {
      const { left, port } = await serve()
      const packed = gzipSync(JSON.stringify('x'.repeat(1000)))
      for (const more of ['Content-Length: 5000', 'Content-Length: 5000\r\nContent-Encoding: gzip']) {
        const socket = connect(port, '127.0.0.1')
        socket.write(head('/echo', more))
        socket.write(packed.subarray(0, 20))
        const count = left.length
        while (left.length === count) await nextTurn()
        socket.destroy()
        await left.at(-1)
      }
      expect(left).to.have.length(2)
    })

    it('are the same in thousands of chunks of one byte', async () => {
      const { port } = await serve()
      for (const length of [511, 512, 513, 2000]) {
        const body =
          JSON.stringify(Array.from({ length }, (_, at) => at % 10).join('')).slice(0, length - 1) + '"'
        const chunks = [...body].map(chunk).join('')
        const request = `${head('/echo', 'Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`
        expect((await rawRequest(port, request)).text, String(length)).to.include(`{"body":${body}}`)
      }
    })

    it('of a request that is destroyed in the same tick leave no pending request', async () => {
      const { left, port } = await serve()
      await rawRequest(port, `${head('/destroyed', 'Content-Length: 5000')}{`)
      await left.at(-1)
      expect(left).to.have.length(1)
    })

    it('are left to middleware that has begun to read them', async () => {
      let seen = ''
      const listener = fromKoa(async (ctx, next) => {
        ctx.req.on('data', (part: Buffer) => (seen += part.toString()))
        await next()
      })
      const { fetch } = await open(
        createApp({ logger: false })
          .use(listener)
          .use(createRouter().post('/', (ctx) => ({ body: ctx.body }))),
      )
      const response = await fetch('/', {
        method: 'POST',
        body: '{"a":1}',
        headers: { 'content-type': 'application/json' },
      })
      expect(await response.json()).to.deep.equal({ body: { a: 1 } })
      expect(seen).to.equal('{"a":1}')
    })
  })
})

describe('A body that is refused half-way', () => {
  throughBothAdapters((open) => {
    /** Passes the delays of all timers set during `act`. A timer of two seconds runs immediately. */
    const withShortLinger = async (act: (delays: number[]) => Promise<void>) => {
      const real = globalThis.setTimeout
      const delays: number[] = []
      const fake = (run: () => void, delay: number) => {
        delays.push(delay)
        return real(run, delay === 2000 ? 1 : delay)
      }
      globalThis.setTimeout = fake as unknown as typeof setTimeout
      try {
        await act(delays)
      } finally {
        globalThis.setTimeout = real
      }
    }
    const consumes = ['multipart/form-data', 'application/json']
    const serve = async () => {
      const routes = createRouter().post('/', { consumes, bodyLimit: 6000 }, () => 'read')
      return Number(new URL((await open(createApp({ logger: false }).use(routes))).url).port)
    }

    for (const [type, part, status] of [
      ['application/json', 'x'.repeat(7000), 413],
      ['multipart/form-data; boundary=B', `--B\r\nNo colon\r\n\r\n${'x'.repeat(5000)}`, 400],
    ] as const)
      it(`gets its response, and its connection is cut two seconds later if the client still sends (${status})`, async () => {
        const port = await serve()
        await withShortLinger(async (delays) => {
          const socket = connect(port, '127.0.0.1')
          socket.on('error', () => undefined)
          const headers = `Host: x\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked`
          socket.write(`POST / HTTP/1.1\r\n${headers}\r\n\r\n${part.length.toString(16)}\r\n${part}\r\n`)
          const [answer] = (await once(socket, 'data')) as [Buffer]
          expect(answer.toString()).to.match(new RegExp(`^HTTP/1.1 ${status} `))
          // Node itself would close it after five seconds without a byte.
          await Promise.race([
            once(socket, 'close'),
            wait(4500, undefined, { ref: false }).then(() => expect.fail('still open')),
          ])
          expect(delays).to.include(2000)
        })
      })
  })
})
