import { PassThrough, Readable } from 'node:stream'
import { expect } from 'chai'
import { createApp, createRouter, fromKoa, type App, type Context, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { rawRequest } from '../support/raw-request.ts'

const NEXT = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

/** Bodies of a response that declares five bytes. */
const WRONG: Record<string, () => Readable> = {
  shorter: () => Readable.from(['abc'], { objectMode: false }),
  longer: () => Readable.from(['abc', 'defg'], { objectMode: false }),
  'longer in one chunk': () => Readable.from(['abcdefg'], { objectMode: false }),
  'longer, of objects': () => Readable.from(['abc', 'defg']),
  'longer some time later': () => {
    const stream = new PassThrough()
    stream.write('abcde')
    setTimeout(() => stream.end('fg'), 20)
    return stream
  },
  empty: () => Readable.from([]),
  'empty and has ended': () => new PassThrough().end(),
}

type Body = () => unknown

/** Ways to send a body that declares a length. */
const WAYS: Record<string, (app: App, make: Body) => unknown> = {
  'a handler': (app, make) => app.use(createRouter().get('/', declaring(make))),
  'a web response': (app, make) =>
    app.use(
      createRouter().get(
        '/',
        () =>
          new Response(Readable.toWeb(make() as Readable) as ReadableStream, {
            headers: { 'Content-Length': '5' },
          }),
      ),
    ),
  'a handler that has sent its headers': (app, make) =>
    app.use(
      createRouter().get('/', ({ koa }) => {
        koa.res.writeHead(200, { 'Content-Length': 5 })
        return make()
      }),
    ),
  'a handler inside Koa middleware': (app, make) =>
    app.use(fromKoa((_ctx, next) => next())).use(createRouter().get('/', declaring(make))),
  'Koa middleware': (app, make) =>
    app.use(
      fromKoa(async (ctx, next) => {
        if (ctx.path === '/next') return next()
        ctx.body = make()
        ctx.length = 5
      }),
    ),
  'middleware of app.koa': (app, make) =>
    app.koa.use(async (ctx, next) => {
      if (ctx.path === '/next') return next()
      ctx.body = make()
      ctx.length = 5
    }),
}

describe('A body that has another length than its response declares', () => {
  throughBothAdapters((open) => {
    async function send(add: (app: App) => unknown, method = 'GET') {
      const lines: unknown[] = []
      const error = (...line: readonly unknown[]): void => void lines.push(line)
      const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error, child: () => logger }
      const app = createApp({ logger, logRequests: false }).use(createRouter().get('/next', () => 'NEXT'))
      add(app)
      const { url, close } = await open(app)
      const port = Number(new URL(url).port)
      const { text } = await rawRequest(port, `${method} / HTTP/1.1\r\nHost: x\r\n\r\n${NEXT}`)
      await close()
      return { text, lines }
    }

    for (const [way, add] of Object.entries(WAYS))
      it(`is never read as a part of the next response, and is logged once: ${way}`, async () => {
        for (const [name, make] of Object.entries(WRONG)) {
          const { text, lines } = await send((app) => add(app, make))
          expect(lines, name).to.have.length(1)
          const found = bodyAndRest(text)
          // Before the first byte, the response can still become an error response.
          if (found.status === 500) expect(found.rest, name).to.match(/^HTTP\/1\.1 200 /)
          else
            expect([found.rest, found.body.length < 5 || /^abcde$/.test(found.body)], name).to.deep.equal([
              '',
              true,
            ])
        }
      })

    for (const [way, add] of Object.entries(WAYS))
      it(`is sent when it has that length, and HEAD needs no body: ${way}`, async () => {
        for (const make of [exact, () => Readable.from(['ab', 'cde'])]) {
          const { text, lines } = await send((app) => add(app, make))
          expect(bodyAndRest(text)).to.include({ status: 200, body: 'abcde' })
          expect([bodyAndRest(text).rest.endsWith('NEXT'), lines]).to.deep.equal([true, []])
        }
        const { text, lines } = await send((app) => add(app, WRONG['shorter']!), 'HEAD')
        expect(text).to.match(/^HTTP\/1\.1 200 [^]*Content-Length: 5\r\n[^]*NEXT$/i)
        expect(lines).to.deep.equal([])
      })

    it('keeps the status of its response', async () => {
      const { text } = await send((app) =>
        app.use(
          createRouter().get('/', (ctx) => {
            ctx.status = 203
            ctx.set('Content-Length', '5')
            return exact()
          }),
        ),
      )
      expect(bodyAndRest(text)).to.include({ status: 203, body: 'abcde' })
    })

    it('is sent with its own length when it is a string or bytes', async () => {
      for (const body of ['abc', 'abcdefg', Buffer.from('abc')])
        for (const way of ['a handler', 'Koa middleware', 'middleware of app.koa']) {
          const { text } = await send((app) => WAYS[way]!(app, () => body))
          expect(bodyAndRest(text), way).to.include({ status: 200, body: String(body) })
          expect(text).to.match(/NEXT$/)
        }
    })

    it('is that of the content of GET if middleware of app.koa responds to HEAD without it', async () => {
      const app = createApp()
      app.koa.use((ctx) => {
        ctx.body = ''
        ctx.length = 1234
      })
      const { status, headers } = await (await open(app)).fetch('/', { method: 'HEAD' })
      expect([status, headers.get('content-length')]).to.deep.equal([200, '1234'])
    })

    it('is sent in chunks when the response declares a transfer encoding as well', async () => {
      for (const way of ['a handler', 'a handler inside Koa middleware']) {
        const { text } = await send((app) => {
          app.use((ctx, next) => {
            ctx.set('Transfer-Encoding', 'chunked')
            return next()
          })
          return WAYS[way]!(app, WRONG['longer']!)
        })
        // Node 26 joins chunks that are ready together.
        expect(text, way).to.match(/\r\n(?:3\r\nabc\r\n4\r\ndefg|7\r\nabcdefg)\r\n0\r\n\r\nHTTP[^]*NEXT/)
        expect(text.slice(0, text.indexOf('\r\n\r\n'))).to.not.match(/content-length/i)
      }
    })

    it('closes the connection when a handler itself writes too much, and then the right rest', async () => {
      const written: boolean[] = []
      const { text } = await send((app) =>
        app.use(
          createRouter().get('/', ({ koa: { res } }) => {
            res.writeHead(200, { 'Content-Length': 5 })
            written.push(res.write('abc'), res.write('defg'))
            return 'de'
          }),
        ),
      )
      expect([text.endsWith('NEXT'), written[1], text.endsWith('abcde')]).to.deep.equal([false, false, false])
    })

    it('passes through a write() that Koa middleware has replaced', async () => {
      const written: string[] = []
      const { text } = await send((app) => {
        app.koa.use(({ res }, next) => {
          const { write } = res
          res.write = (...given: readonly unknown[]) => {
            written.push(String(given[0]))
            return Reflect.apply(write, res, given) as boolean
          }
          return next()
        })
        const handler = ({ koa: { res } }: Context): string => {
          res.writeHead(200, { 'Content-Length': 5 })
          res.write('ab')
          return 'cde'
        }
        return app.use(createRouter().get('/', handler))
      })
      expect([bodyAndRest(text).body, written]).to.deep.equal(['abcde', ['ab']])
    })

    it('counts the bytes that a handler has written itself', async () => {
      for (const [rest, isRight] of [
        [() => Readable.from(['cde'], { objectMode: false }), true],
        [() => 'cde', true],
        [() => undefined, false],
        [() => 'cdefg', false],
        [exact, false],
      ] as const) {
        const { text, lines } = await send((app) =>
          app.use(
            createRouter().get('/', ({ koa: { res } }) => {
              res.writeHead(200, { 'Content-Length': 5 })
              res.write('ab')
              return rest()
            }),
          ),
        )
        expect([text.endsWith('NEXT'), lines.length]).to.deep.equal(isRight ? [true, 0] : [false, 1])
      }
    })
  })
})

const exact = (): Readable => Readable.from(['ab', 'cde'], { objectMode: false })

function declaring(make: Body) {
  return (ctx: Context): unknown => {
    ctx.set('Content-Length', '5')
    return make()
  }
}

/** Splits what a client reads by the declared length of the first response. */
function bodyAndRest(text: string): { status: number; body: string; rest: string } {
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, Math.max(end, 0))
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const content = text.slice(end + 4)
  return { status: Number(head.slice(9, 12)), body: content.slice(0, length), rest: content.slice(length) }
}
