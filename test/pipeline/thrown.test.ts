import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, HttpError, NotFound, sse, type Handler, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters } from '../support/adapters.ts'

/** An error whose property throws when it is read. */
function withGetter(name: 'message' | 'stack' | 'cause'): Error {
  return Object.defineProperty(new Error('hidden'), name, {
    get() {
      throw new Error('a getter threw')
    },
  })
}

function trapped(): Error {
  const refuse = (): never => {
    throw new Error('a trap was called')
  }
  return new Proxy(new Error('hidden'), { get: refuse, has: refuse, getPrototypeOf: refuse })
}

const circularCause = new Error('first')
circularCause.cause = new Error('second', { cause: circularCause })
const circular: Record<string, unknown> = {}
circular.self = circular

const thrown: readonly (readonly [string, unknown, number])[] = [
  ['undefined', undefined, 500],
  ['null', null, 500],
  ['a string', 'text', 500],
  ['a symbol', Symbol('s'), 500],
  ['an object with a status', { status: 404 }, 500],
  ['a frozen error', Object.freeze(new Error('frozen')), 500],
  ['a frozen HttpError', Object.freeze(new NotFound('frozen')), 404],
  ['an error whose message cannot be read', withGetter('message'), 500],
  ['an error whose stack cannot be read', withGetter('stack'), 500],
  ['an error whose cause cannot be read', withGetter('cause'), 500],
  ['an error of which nothing can be read', trapped(), 500],
  ['an error that is its own cause', circularCause, 500],
  ['an HttpError that is its own cause', new HttpError(503, 'loop', { cause: circularCause }), 503],
  ['a circular extension', new HttpError(400, 'x', { extensions: { circular } }), 400],
  ['an extension that JSON cannot hold', new HttpError(400, 'x', { extensions: { count: 5n } }), 400],
  ['an extension named toJSON', new HttpError(400, 'x', { extensions: { toJSON: () => undefined } }), 400],
  ['extensions in place of members', new HttpError(400, 'x', { extensions: { status: 200, code: 1 } }), 400],
  [
    'a header with a line break',
    new HttpError(418, 'x', { headers: { 'X-A': 'a\r\nSet-Cookie: b=1' } }),
    500,
  ],
  ['an invalid header name', new HttpError(418, 'x', { headers: { 'X A': 'a' } }), 500],
]

describe('A thrown value', () => {
  throughBothAdapters((open) => {
    const serve = async (handler: Handler, logger: Logger | false = false) =>
      (await open(createApp({ logger }).use(createRouter().get('/', handler as never)))).fetch

    for (const [name, value, status] of thrown)
      it(`becomes a problem: ${name}`, async () => {
        for (const handler of [() => raise(value), () => Promise.resolve().then(() => raise(value))]) {
          const response = await (await serve(handler))('/')
          expect(response.status).to.equal(status)
          expect(response.headers.get('content-type')).to.equal('application/problem+json')
          expect(response.headers.get('set-cookie')).to.equal(null)
          expect(await response.json()).to.include({ status })
        }
      })

    it('keeps its own members, whatever extensions have their names', async () => {
      const names = ['type', 'title', 'status', 'detail', 'code', 'instance']
      const extensions = Object.fromEntries(names.map((name) => [name, 'theirs']))
      const fetch = await serve(() => raise(new HttpError(400, 'x', { extensions })))
      expect(await (await fetch('/')).text())
        .to.include('"detail":"x"')
        .and.not.include('theirs')
    })

    it('becomes a problem even if the logger throws', async () => {
      const fetch = await serve(() => raise(new Error('first')), brokenLogger)
      const response = await fetch('/')
      expect(response.status).to.equal(500)
      expect(await response.json()).to.include({ detail: 'first' })
    })

    it('removes framing headers together with their body', async () => {
      const fetch = await serve((ctx) => {
        ctx.set('Transfer-Encoding', 'chunked')
        ctx.set('Content-Length', '4')
        throw new NotFound()
      })
      const response = await fetch('/')
      expect(response.headers.get('transfer-encoding')).to.equal(null)
      expect(Number(response.headers.get('content-length'))).to.equal((await response.text()).length)
    })

    it('for a header that Node rejects becomes a 500', async () => {
      for (const value of ['a\r\nSet-Cookie: b=1', 'a\0', undefined as never]) {
        const fetch = await serve((ctx) => {
          ctx.set('X-Name', value)
          return 'sent'
        })
        const response = await fetch('/')
        expect(response.status).to.equal(500)
        expect(response.headers.get('set-cookie')).to.equal(null)
      }
    })

    it('for an invalid status becomes a 500', async () => {
      for (const status of [0, 101, 199, 600, 1000, 200.5, Number.NaN, '200' as never]) {
        const fetch = await serve((ctx) => void (ctx.status = status))
        expect((await fetch('/')).status, String(status)).to.equal(500)
      }
    })
  })

  it('by the source of a body closes the connection with one line in the log', async () => {
    let lines = 0
    const logger: Logger = {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: () => void lines++,
      child: () => logger,
    }
    const sources: Record<string, (value: unknown) => Handler> = {
      iterable: (value) => () => failing(value),
      events: (value) => (ctx) => sse(ctx, failing(value)),
    }
    for (const [kind, handlerOf] of Object.entries(sources))
      for (const [name, value, status] of thrown) {
        lines = 0
        const app = createApp({ logger, logRequests: false }).use(createRouter().get('/', handlerOf(value)))
        const { url } = await app.listen(0, '127.0.0.1')
        const text = await (await fetch(url)).text().catch(() => 'cut off')
        await app.close()
        expect([text, lines], `${kind}, ${name}, ${status}`).to.deep.equal(['cut off', 1])
      }
  })

  it('from an event listener is logged with four causes at most', async () => {
    const lines: { err: object }[] = []
    const logger = {
      ...brokenLogger,
      error: (line: object | string) => void lines.push(line as { err: object }),
    }
    const app = createApp({ logger: { ...logger, child: () => logger } })
    app.events.on('a', () => raise(circularCause))
    app.events.emit('a', {})
    await app.close().catch(() => undefined)
    let depth = 0
    for (let each: { cause?: object } = lines[0]!.err; each.cause !== undefined; each = each.cause) depth++
    expect(depth).to.equal(4)
  })

  it('from an event listener or its log line affects no request', async () => {
    const app = createApp({ logger: brokenLogger })
    let isHeard = false
    app.events.on('a', () => raise(trapped()))
    app.events.on('a', () => (isHeard = true))
    expect(() => app.events.emit('a', {})).not.to.throw()
    await app.close()
    expect(isHeard).to.equal(true)
  })
})

async function* failing(value: unknown) {
  yield 'part'
  await nextTurn()
  throw value
}

function raise(value: unknown): never {
  throw value
}

const brokenLogger: Logger = {
  debug: () => raise(new Error('The log is full.')),
  info: () => raise(new Error('The log is full.')),
  warn: () => raise(new Error('The log is full.')),
  error: () => raise(new Error('The log is full.')),
  child: () => brokenLogger,
}
