import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createApp, createRouter, type Context, type Handler } from 'mortar'
import { number, object } from 'yup'
import { recorder } from '../app/recorder.ts'
import { throughBothAdapters } from '../support/adapters.ts'

const bare = (ctx: Context) => ctx.koa.res

describe('A handler that writes to the bare response', () => {
  throughBothAdapters((open) => {
    const answer = async (handler: Handler, init?: RequestInit) => {
      const router = createRouter().get('/', handler as never)
      return (await open(createApp({ logger: false }).use(router))).fetch('/', init)
    }

    it('completes the response when it ends it and returns nothing', async () => {
      const response = await answer((ctx) => void bare(ctx).end('raw'))
      expect([response.status, await response.text()]).to.deep.equal([200, 'raw'])
    })

    it('leaves the framework to end the response when it only writes and returns nothing', async () => {
      const response = await answer((ctx) => void bare(ctx).write('one'))
      expect([response.status, await response.text()]).to.deep.equal([200, 'one'])
    })

    it('causes one 500 and one line of the log if Node refuses its headers, however the response is made', async () => {
      const later = {
        '~standard': { version: 1, vendor: 'test', validate: async (value: unknown) => ({ value }) },
      }
      const refused = (ctx: Context) => {
        // Only chunks may have trailers.
        bare(ctx).setHeader('Trailer', 'x-later')
        return { a: 1 }
      }
      const router = createRouter()
        .get('/value', refused)
        .get('/promise', async (ctx) => refused(ctx))
        .get('/schema', { response: { 200: object({ a: number() }) } }, refused)
        .get('/schema-of-promises', { response: { 200: later as never } }, refused)
      const lines: string[] = []
      const { fetch: ask } = await open(createApp({ logger: recorder(lines) }).use(router))
      for (const path of ['/value', '/promise', '/schema', '/schema-of-promises']) {
        lines.length = 0
        expect((await ask(path, { signal: AbortSignal.timeout(120_000) })).status, path).to.equal(500)
        const errors = lines.filter((line) => line.startsWith('error'))
        expect(errors, path).to.have.length(1)
        expect(errors[0]).to.include('ERR_HTTP_TRAILER_INVALID')
      }
    })

    it('may continue to write after it returns when it sets respond to false', async () => {
      const response = await answer((ctx) => {
        ctx.koa.respond = false
        bare(ctx).write('one ')
        setImmediate(() => bare(ctx).end('two'))
      })
      expect([response.status, await response.text()]).to.deep.equal([200, 'one two'])
    })

    it('may begin to write later when it sets respond to false', async () => {
      const response = await answer((ctx) => {
        ctx.koa.respond = false
        setTimeout(() => bare(ctx).writeHead(203).end('late'), 5)
      })
      expect([response.status, await response.text()]).to.deep.equal([203, 'late'])
    })

    it('has its connection cut when it throws after its first write', async () => {
      const outcome = await answer((ctx) => {
        bare(ctx).write('part')
        throw new Error('too late')
      })
        .then((response) => response.text())
        .catch(() => 'cut off')
      expect(outcome).to.equal('cut off')
    })

    it('has its return value sent after the written part, as in Koa', async () => {
      const response = await answer((ctx) => {
        bare(ctx).write('part ')
        return { more: true }
      })
      expect(await response.text()).to.equal('part {"more":true}')
    })

    it('has its return value sent by the end of the connection when the response has no length', async () => {
      const response = await answer((ctx) => {
        bare(ctx).removeHeader('Transfer-Encoding')
        bare(ctx).write('part ')
        return 'value'
      })
      expect(await response.text()).to.equal('part value')
    })

    it('has its connection cut when the value does not match Content-Length', async () => {
      const outcome = await answer((ctx) => {
        bare(ctx).writeHead(200, { 'Content-Length': '8' }).write('part')
        return { more: true }
      })
        .then((response) => response.text())
        .catch(() => 'cut off')
      expect(outcome).to.equal('cut off')
    })

    const lengths: readonly (readonly [parts: string, begin: (res: ServerResponse) => unknown])[] = [
      ['writeHead()', (res) => res.writeHead(200, { 'Content-Length': '5' })],
      ['writeHead() with a list', (res) => res.writeHead(200, ['Content-Length', '5'])],
      ['early headers', (res) => res.writeHead(200, { 'Content-Length': '5' }).flushHeaders()],
      ['setHeader() and a written part', (res) => res.setHeader('Content-Length', '10').write('part ')],
      ['two bytes for a letter', (res) => res.setHeader('Content-Length', '11').write('pàrt ')],
      ['text in Latin-1', (res) => res.setHeader('Content-Length', '10').write('p\xe0rt ', 'latin1')],
    ]
    for (const [name, begin] of lengths)
      it(`has its value sent as far as the Content-Length of ${name} matches it, and its connection cut otherwise`, async () => {
        for (const [value, expected] of [
          ['value', /^(p.rt )?value$/],
          ['val', /^cut off$/],
          ['value more', /^cut off$/],
        ] as const) {
          const read = answer((ctx) => {
            begin(bare(ctx))
            return value
          }).then((response) => response.text())
          expect(await read.catch(() => 'cut off'), value).to.match(expected)
        }
      })

    it('sends its headers early, and a string or a stream afterwards', async () => {
      for (const value of ['data: 1\n\n', Readable.from(['data: ', '1\n\n'])]) {
        const response = await answer((ctx) => {
          ctx.type = 'text/event-stream'
          bare(ctx).flushHeaders()
          return value
        })
        expect(response.headers.get('content-type')).to.contain('text/event-stream')
        expect(await response.text()).to.equal('data: 1\n\n')
      }
    })

    it('sends its headers early and a string of any length when the connection ends with it', async () => {
      const router = createRouter().get('/', (ctx) => {
        bare(ctx).flushHeaders()
        return 'value'
      })
      const { url } = await open(createApp({ logger: false }).use(router))
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('GET / HTTP/1.0\r\nHost: x\r\n\r\n')
      let received = ''
      for await (const chunk of socket) received += String(chunk)
      expect(received).to.match(/^HTTP\/1\.1 200 [^]*\r\n\r\nvalue$/)
    })

    it('has its connection cut when it sends its headers early and returns a closed stream', async () => {
      const response = await answer(async (ctx) => {
        bare(ctx).flushHeaders()
        const stream = new PassThrough().destroy()
        await nextTurn()
        return stream
      })
      const text = response.text().catch(() => 'cut off')
      expect(await Promise.race([text, turns(200)])).to.equal('cut off')
    })

    it('sends its headers early for HEAD too, and the connection takes the next request', async () => {
      for (const headers of [{}, { 'Content-Length': '8' }]) {
        const router = createRouter().get('/', (ctx) => {
          bare(ctx).writeHead(200, headers).flushHeaders()
          return 'value'
        })
        const { url } = await open(createApp({ logger: false }).use(router))
        const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n'
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        socket.write(`${head}\r\n${head}Connection: close\r\n\r\n`)
        let received = ''
        for await (const chunk of socket) received += String(chunk)
        expect(received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 200'])
      }
    })

    it('causes a problem response when it throws before its first write, with respond true or false', async () => {
      const response = await answer((ctx) => {
        ctx.koa.respond = false
        throw new Error('before')
      })
      expect(response.status).to.equal(500)
    })
  })
})

describe('A status without content', () => {
  throughBothAdapters((open) => {
    it('205 has a Content-Length of 0, for HEAD too', async () => {
      const router = createRouter().get('/', (ctx) => void (ctx.status = 205))
      const { fetch } = await open(createApp().use(router))
      for (const method of ['GET', 'HEAD'])
        expect((await fetch('/', { method })).headers.get('content-length'), method).to.equal('0')
    })

    it('sends no Trailer, which Node refuses without a body', async () => {
      const router = createRouter().get('/:status', (ctx) => {
        bare(ctx).setHeader('Trailer', 'x-later')
        ctx.status = Number(ctx.params.status)
      })
      const { fetch } = await open(createApp({ logger: false }).use(router))
      for (const status of [204, 205, 304]) {
        const response = await fetch(`/${status}`, { signal: AbortSignal.timeout(120_000) })
        expect([response.status, await response.text()]).to.deep.equal([status, ''])
        expect(response.headers.get('trailer')).to.equal(null)
      }
    })

    for (const status of [204, 205, 304])
      it(`sends no body and no Content-Length: ${status}`, async () => {
        const router = createRouter().get('/', (ctx) => {
          ctx.status = status
          return { dropped: true }
        })
        const response = await (await open(createApp().use(router))).fetch('/')
        expect([response.status, await response.text()]).to.deep.equal([status, ''])
        expect(response.headers.get('content-type')).to.equal(null)
        expect(response.headers.get('content-length')).to.equal(status === 205 ? '0' : null)
      })
  })
})

/** Resolves after a number of turns of the event loop. */
async function turns(count: number): Promise<string> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
  return 'still open'
}

describe('A web response', () => {
  let upstream: Server
  let url: string
  before(async () => {
    upstream = createServer((_req, res) => {
      const body = gzipSync('{"from":"upstream"}')
      res.writeHead(201, {
        'Content-Encoding': 'gzip',
        'Content-Length': body.length,
        'Content-Type': 'application/json',
        Connection: 'close',
        'X-Upstream': 'yes',
      })
      res.end(body)
    })
    await new Promise<void>((resolve) => {
      upstream.listen(0, '127.0.0.1', resolve)
    })
    url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  })
  after((done) => void upstream.close(done))

  throughBothAdapters((open) => {
    it('of fetch is forwarded without its Content-Encoding and Connection headers', async () => {
      const { fetch: ask } = await open(createApp().use(createRouter().get('/', () => fetch(url))))
      const response = await ask('/')
      expect(response.status).to.equal(201)
      expect(response.headers.get('content-encoding')).to.equal(null)
      expect(response.headers.get('x-upstream')).to.equal('yes')
      expect(response.headers.get('connection')).not.to.equal('close')
      expect(await response.json()).to.deep.equal({ from: 'upstream' })
    })

    it('is sent without the headers of another connection', async () => {
      const names = [
        'connection',
        'keep-alive',
        'proxy-connection',
        'transfer-encoding',
        'trailer',
        'upgrade',
      ]
      const headers = Object.fromEntries([...names, 'x-other'].map((name) => [name, 'of-upstream']))
      const router = createRouter().get('/', () => new Response('text', { headers }))
      const response = await (await open(createApp().use(router))).fetch('/')
      expect(await response.text()).to.equal('text')
      const sent = [...response.headers].filter(([, value]) => value === 'of-upstream')
      expect(sent).to.deep.equal([['x-other', 'of-upstream']])
    })

    it('of the handler keeps its Content-Encoding', async () => {
      const headers = { 'content-encoding': 'gzip' }
      const router = createRouter().get('/', () => new Response(gzipSync('packed'), { headers }))
      const response = await (await open(createApp().use(router))).fetch('/')
      expect(response.headers.get('content-encoding')).to.equal('gzip')
      expect(await response.text()).to.equal('packed')
    })
  })
})
