import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, fromKoa, type Context, type Handler, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { deferred } from '../support/deferred.ts'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'

const MEBIBYTE = 1024 * 1024
/** Bytes between two measurements; each collects the whole heap. */
const STRIDE = 20 * MEBIBYTE

describe('A stream as a response', () => {
  throughBothAdapters((open) => {
    const serve = (handler: Handler): Promise<ServedApp> =>
      open(createApp({ logger: false }).use(createRouter().get('/', handler as never)))

    const failing: readonly (readonly [string, () => unknown, string])[] = [
      ['is a file that is not there', () => createReadStream('/nothing/here'), 'ENOENT'],
      ['was destroyed', () => new PassThrough().destroy(), 'closed before any byte was sent'],
      ['is destroyed before its first byte', closing, 'closed before any byte was sent'],
      ['had failed', () => new PassThrough().destroy(new Error('early')), 'early'],
      ['had failed with bytes in it', () => written().destroy(new Error('early')), 'early'],
      ['cannot be opened', () => new Readable({ construct: (done) => done(new Error('shut')) }), 'shut'],
      ['fails in the next tick', () => failingNext(), 'next'],
      ['had failed and is of objects', () => objects().destroy(new Error('early')), 'early'],
      ['fails at its first chunk', () => throwing(), 'The source failed.'],
      [
        'yields a value that is not a chunk',
        () => Readable.from([{ no: 'chunk' }]),
        'neither a string nor bytes: object',
      ],
      [
        'is a web stream that fails',
        () => new ReadableStream({ start: (controller) => controller.error(new Error('web')) }),
        'web',
      ],
    ]
    // Node emits the error of a stream before it continues an awaiting function, unless a promise was awaited before.
    const ways: Record<string, (make: () => unknown) => Handler> = {
      '': (make) => make,
      ', from an async handler': (make) => async () => make(),
      ', from a later turn of an async handler': (make) => async () => nextTurn().then(make),
      ', behind the body of the request':
        (make) =>
        async ({ koa }) => {
          for await (const chunk of koa.req) expect(chunk).to.have.length(5)
          return make()
        },
    }
    for (const [way, handlerOf] of Object.entries(ways))
      for (const [name, make, detail] of failing)
        it(`becomes a problem when it ${name}${way}, and does not affect HEAD`, async () => {
          const { fetch } = await serve(handlerOf(make))
          const response = await fetch('/')
          expect(response.status).to.equal(500)
          expect(response.headers.get('content-type')).to.contain('problem+json')
          expect(await response.text()).to.contain(detail)
          await fetch('/', { method: 'HEAD' })
          expect((await fetch('/')).status).to.equal(500)
        })

    const empty: Record<string, () => unknown> = {
      'has ended': () => new PassThrough().end(),
      'has ended and was read': () => new PassThrough().end().resume(),
      'is of objects and has ended': () => objects().end(),
      'has no values': () => Readable.from([]),
      'is a web stream that has ended': () => new Response('').body,
    }
    for (const [way, handlerOf] of Object.entries(ways))
      for (const [name, make] of Object.entries(empty))
        it(`is an empty response when it ${name}${way}`, async () => {
          const { fetch } = await serve(handlerOf(make))
          for (const method of ['GET', 'HEAD', 'GET']) {
            const response = await fetch('/', { method })
            expect([response.status, await response.text()]).to.deep.equal([200, ''])
          }
        })

    it('delays HEAD until a file is open, but not until a first byte', async () => {
      const inHandler = async (make: () => unknown): Promise<number> => {
        const { fetch } = await serve(make)
        return (await fetch('/', { method: 'HEAD' })).status
      }
      expect(await inHandler(() => new PassThrough())).to.equal(200)
      expect(await inHandler(silent)).to.equal(200)
      expect(await inHandler(() => createReadStream('/nothing/here'))).to.equal(500)
    })

    it('is closed when its connection ends before the response in front of it', async () => {
      const opened: Readable[] = []
      const kept = (stream: Readable): Readable => opened[opened.push(stream) - 1]!
      const errors: unknown[] = []
      const error = (...line: readonly unknown[]): void => void errors.push(line)
      const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error, child: () => logger }
      const app = createApp({ logger, logRequests: false }).use(
        createRouter()
          .get('/silent', () => kept(new PassThrough()))
          .get('/waits', ({ signal }) => once(signal, 'abort'))
          .get('/file', () => kept(createReadStream('/dev/zero')))
          .get('/bytes', () => kept(Readable.from(endless(ignore), { objectMode: false })))
          .get('/begun', ({ koa }) => {
            koa.res.flushHeaders()
            return kept(createReadStream('/dev/zero'))
          }),
      )
      const { url } = await open(app)
      for (const path of ['/file', '/bytes', '/begun']) {
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        socket.write(`GET /waits HTTP/1.1\r\nHost: x\r\n\r\nGET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
        while (!opened.at(-1)?.readableDidRead) await wait(5)
        socket.destroy()
        await once(opened.pop()!, 'close')
      }
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('GET /waits HTTP/1.1\r\nHost: x\r\n\r\nGET /silent HTTP/1.1\r\nHost: x\r\n\r\n')
      while (opened.length === 0) await wait(5)
      socket.destroy()
      await once(opened.pop()!, 'close')
      await turns(10)
      expect(errors).to.deep.equal([])
    })

    const late: Record<string, (ctx: Context) => unknown> = {
      'from a handler': (ctx) => {
        ctx.type = 'text/event-stream'
        return silent()
      },
      'from a handler, through Koa': ({ koa }) => {
        koa.type = 'text/event-stream'
        koa.body = new PassThrough()
      },
    }
    for (const [name, handler] of Object.entries(late))
      for (const front of [[], [fromKoa((_ctx, next) => next())]])
        it(`of server-sent events has its headers before the first event: ${name}, ${front.length} in front`, async () => {
          const app = createApp({ logger: false }).use(createRouter().get('/', handler))
          for (const middleware of front) app.use(middleware)
          const response = await (await open(app)).fetch('/')
          expect(response.headers.get('content-type')).to.contain('text/event-stream')
          await response.body!.cancel()
        })

    it('of server-sent events becomes a problem when it fails immediately', async () => {
      const { fetch } = await serve((ctx) => {
        ctx.type = 'text/event-stream'
        return new Readable({ read: () => void 0 }).destroy(new Error('no events'))
      })
      expect((await fetch('/')).status).to.equal(500)
    })

    it('that fails half-way ends the connection', async () => {
      const { fetch } = await serve(() => throwing('part'))
      const response = await fetch('/')
      expect(response.status).to.equal(200)
      expect(await response.text().catch(() => 'cut off')).to.equal('cut off')
    })

    it('that fails half-way is logged once', async () => {
      const failures: string[] = []
      const error = (...line: readonly unknown[]): void => void failures.push(JSON.stringify(line))
      const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error, child: () => logger }
      const handler = () => Readable.from(throwing('part'))
      const app = createApp({ logger, logRequests: false }).use(createRouter().get('/', handler))
      const emitted = new Set<string>()
      app.koa.on('error', ({ message }: Error) => emitted.add(message))
      const { fetch, close } = await open(app)
      await (await fetch('/')).text().catch(ignore)
      while (failures.length === 0) await nextTurn()
      await close()
      expect(failures).to.have.length(1)
      expect(failures[0]).to.include('The source failed.')
      expect([...emitted]).to.deep.equal(['The source failed.'])
    })

    it('that is destroyed half-way without an error ends the connection', async () => {
      const stream = new PassThrough()
      stream.write('part')
      const { fetch } = await serve(() => stream)
      const reader = (await fetch('/')).body!.getReader()
      const { value } = await reader.read()
      expect(Buffer.from(value ?? []).toString()).to.equal('part')
      stream.destroy()
      expect(await reader.read().catch(() => 'cut off')).to.equal('cut off')
    })

    it('that other code reads beside the response is sent whole', async () => {
      const { fetch } = await serve(() => {
        const stream = new PassThrough().on('data', ignore)
        setImmediate(() => stream.end('bytes'))
        return stream
      })
      expect(await (await fetch('/')).text()).to.equal('bytes')
    })

    it('of objects is sent when they are strings', async () => {
      const { fetch } = await serve(() => Readable.from(['a', 'b']))
      expect(await (await fetch('/')).text()).to.equal('ab')
    })

    it('that is empty is a complete response', async () => {
      const { fetch } = await serve(() => Readable.from([]))
      const response = await fetch('/')
      expect([response.status, await response.text()]).to.deep.equal([200, ''])
    })

    it('is closed when it is not sent: HEAD, 204, 304', async () => {
      for (const [status, method] of [
        [200, 'HEAD'],
        [204, 'GET'],
        [304, 'GET'],
      ] as const) {
        const stream = new PassThrough()
        const { fetch } = await serve((ctx) => {
          ctx.status = status
          return stream.end('text')
        })
        const closed = closeOf(stream)
        expect((await fetch('/', { method })).status).to.equal(status)
        await closed
      }
    })

    it('is closed when it is not sent, of every kind, whatever error its end causes', async () => {
      const broken = new Readable({ read: ignore, destroy: (_error, done) => done(new Error('closed')) })
      for (const bodyOf of [(web: ReadableStream) => web, (web: ReadableStream) => new Response(web)]) {
        const cancelled = deferred()
        const web = new ReadableStream({ cancel: () => cancelled.resolve() })
        const { fetch } = await serve((ctx) => {
          ctx.status = 204
          return bodyOf(web)
        })
        expect((await fetch('/')).status).to.equal(204)
        expect(await Promise.race([cancelled.promise.then(() => 'closed'), turns(100)])).to.equal('closed')
      }
      const { fetch } = await serve((ctx) => {
        ctx.status = 204
        return broken
      })
      // Mocha fails for an error that nobody handles.
      expect((await fetch('/')).status).to.equal(204)
      await turns(10)
      expect(broken.closed).to.equal(true)
    })

    it('is closed when the client leaves, before and after its first bytes', async () => {
      for (const first of [undefined, 'part']) {
        const stream = new PassThrough()
        const arrival = deferred()
        const errors: unknown[] = []
        const note = (fields: unknown): void => void errors.push(fields)
        const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: note, child: () => logger }
        const router = createRouter().get('/', () => {
          arrival.resolve()
          if (first) stream.write(first)
          return stream
        })
        const { url } = await open(createApp({ logger }).use(router))
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        const closed = closeOf(stream)
        await (first ? once(socket, 'data') : arrival.promise)
        socket.destroy()
        await closed
        await nextTurn()
        expect([stream.destroyed, errors]).to.deep.equal([true, []])
      }
    })

    it('is read no faster than the client reads it', async () => {
      let produced = 0
      const { url } = await serve(() => endless(() => (produced += MEBIBYTE)))
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(socket, 'readable')
      // The client reads nothing, so the produced bytes stop at the capacity of the buffers between.
      let before = -1
      while (before !== produced) {
        before = produced
        await wait(100)
      }
      expect(produced).to.be.lessThan(64 * MEBIBYTE)
      socket.destroy()
    })

    it('of 100 MiB passes without being buffered', async () => {
      let res!: ServerResponse
      const { fetch } = await serve(({ koa }) => {
        res = koa.res
        return Readable.from(chunks(100), { objectMode: false })
      })
      const reader = (await fetch('/')).body!.getReader()
      let size = 0
      let highest = 0
      const start = process.memoryUsage().arrayBuffers
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const before = size
        size += part.value.length
        if (Math.floor(before / STRIDE) === Math.floor(size / STRIDE)) continue
        collectGarbage()
        highest = Math.max(highest, process.memoryUsage().arrayBuffers)
      }
      expect(size).to.equal(100 * MEBIBYTE)
      expect(res.listenerCount('drain')).to.be.lessThan(2)
      // V8 frees buffers in the background, so strides may be counted although nothing refers to them.
      expect(highest - start).to.be.lessThan(3 * STRIDE)
    })

    it('becomes a problem on failure inside Koa middleware too', async () => {
      const app = createApp({ logger: false })
        .use(fromKoa((_ctx, next) => next()))
        .use(createRouter().get('/', () => throwing()))
      expect((await (await open(app)).fetch('/')).status).to.equal(500)
    })
  })

  // Koa itself cuts it off.
  it('that fails after its end is sent whole', async () => {
    const handler = (): Readable => {
      const stream = new Readable({ read: ignore, destroy: (_error, done) => done(new Error('late')) })
      stream.push(Buffer.alloc(20 * MEBIBYTE))
      stream.push(null)
      return stream
    }
    const app = createApp({ logger: false }).use(createRouter().get('/', handler))
    const { url } = await app.listen(0, '127.0.0.1')
    expect((await (await fetch(url)).arrayBuffer()).byteLength).to.equal(20 * MEBIBYTE)
    await app.close()
  })
})

/** Unlike `once`, it does not mind an error before. */
function closeOf(stream: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
  })
}

function closing(): PassThrough {
  const stream = new PassThrough()
  setImmediate(() => stream.destroy())
  return stream
}

/** Resolves after a number of turns of the event loop. */
async function turns(count: number): Promise<string> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
  return 'too late'
}

/** Never yields. */
async function* silent() {
  await deferred().promise
  yield ''
}

async function* throwing(first?: string) {
  if (first) yield first
  await nextTurn()
  throw new Error('The source failed.')
}

function* chunks(count: number) {
  for (let index = 0; index < count; index++) yield Buffer.alloc(MEBIBYTE, 65)
}

async function* endless(note: () => void) {
  for (;;) {
    note()
    yield Buffer.alloc(MEBIBYTE, 65)
    await nextTurn()
  }
}

function written(): PassThrough {
  const stream = new PassThrough()
  stream.write('bytes')
  return stream
}

function objects(): PassThrough {
  return new PassThrough({ objectMode: true })
}

function failingNext(): PassThrough {
  const stream = new PassThrough()
  process.nextTick(() => stream.destroy(new Error('next')))
  return stream
}
