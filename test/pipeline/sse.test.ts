import { EventEmitter, on, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  fromKoa,
  sse,
  type EventsSource,
  type Logger,
  type SseOptions,
} from 'mortar'
import { number, object } from 'yup'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'

/** A value that a source throws. */
class Thrown {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

describe('sse', () => {
  throughBothAdapters((open) => {
    const errors: Record<string, unknown>[] = []
    const note = (fields: unknown): void => void errors.push(fields as Record<string, unknown>)
    const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: note, child: () => logger }

    const serve = (events: EventsSource, options?: SseOptions): Promise<ServedApp> =>
      open(createApp({ logger }).use(createRouter().get('/', (ctx) => sse(ctx, events, options))))

    it('writes events: text, JSON, lines, names, ids and delays', async () => {
      const { fetch } = await serve(
        async function* () {
          yield 'text'
          yield { data: 'two\nlines\r\nand\rmore' }
          yield { event: 'change', id: 7, data: { n: 1, text: 'a\nb' } }
          yield { retry: '3s' }
          yield { retry: 0.0015 }
          yield { id: '', data: '' }
          yield { data: null }
        },
        { retry: 2 },
      )
      const response = await fetch('/')
      const names = ['content-type', 'cache-control', 'x-accel-buffering']
      expect(names.map((name) => response.headers.get(name))).to.deep.equal([
        'text/event-stream',
        'no-cache, no-transform',
        'no',
      ])
      expect(await response.text()).to.equal(
        [
          'retry: 2000',
          'data: text',
          'data: two\ndata: lines\ndata: and\ndata: more',
          'event: change\nid: 7\ndata: {"n":1,"text":"a\\nb"}',
          'retry: 3000',
          'retry: 2',
          'id: \ndata: ',
          'data: null',
          '',
        ].join('\n\n'),
      )
    })

    it('writes a delay of zero, after which the client reconnects immediately', async () => {
      const { fetch } = await serve([{ retry: 0 }], { retry: 0 })
      expect(await (await fetch('/')).text()).to.equal('retry: 0\n\nretry: 0\n\n')
    })

    it('accepts a list, an iterable and functions that return one', async () => {
      for (const events of [
        ['a'],
        (async function* () {
          yield 'a'
        })(),
        () => ['a'],
        () => Promise.resolve(['a']),
      ])
        expect(await (await (await serve(events)).fetch('/')).text()).to.equal('data: a\n\n')
    })

    it('sends its headers before the first event', async () => {
      const { fetch } = await serve(() => silent())
      const response = await fetch('/')
      expect(response.status).to.equal(200)
      await response.body!.cancel()
    })

    it('sends nothing for HEAD, and makes no event', async () => {
      let made = 0
      const { fetch } = await serve(() => {
        made++
        return ['a']
      })
      const response = await fetch('/', { method: 'HEAD' })
      expect([response.status, response.headers.get('content-type'), made]).to.deep.equal([
        200,
        'text/event-stream',
        0,
      ])
    })

    it('gives the id of the last event to its source', async () => {
      const { fetch } = await serve(({ lastEventId }) => [`after ${lastEventId ?? 'none'}`])
      expect(await (await fetch('/')).text()).to.equal('data: after none\n\n')
      const emptied = await fetch('/', { headers: { 'Last-Event-ID': '' } })
      expect(await emptied.text()).to.equal('data: after \n\n')
      const id = Buffer.from('7 €').toString('latin1')
      const response = await fetch('/', { headers: { 'Last-Event-ID': id } })
      expect(await response.text()).to.equal('data: after 7 €\n\n')
    })

    it('sends comments while nothing happens', async () => {
      const { fetch } = await serve(() => silent(), { heartbeat: '5ms' })
      const reader = (await fetch('/')).body!.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.startsWith(':\n\n:\n\n')) text += (await reader.read()).value ?? ''
      await reader.cancel()
    })

    it('closes its source when the client leaves', async () => {
      const closed = deferred()
      const emitter = new EventEmitter()
      const { url } = await serve(async function* ({ signal }) {
        try {
          for await (const [data] of on(emitter, 'change', { signal })) yield { data: data as unknown }
        } finally {
          closed.resolve()
        }
      })
      const socket = get(url)
      await until(socket, '\r\n\r\n')
      await new Promise(setImmediate)
      emitter.emit('change', { a: 1 })
      await until(socket, '{"a":1}')
      socket.destroy()
      await closed.promise
      expect(emitter.listenerCount('change')).to.equal(0)
    })

    it('calls return() of an iterator, also if no event was read', async () => {
      const closed = deferred()
      const iterator = {
        [Symbol.asyncIterator]: () => iterator,
        next: () => deferred().promise as Promise<never>,
        return: () => {
          closed.resolve()
          return Promise.resolve({ done: true as const, value: undefined })
        },
      }
      const { url, fetch } = await serve(iterator)
      const socket = get(url)
      await until(socket, '\r\n\r\n')
      socket.destroy()
      await closed.promise
      let returned = 0
      const unread = {
        ...iterator,
        [Symbol.asyncIterator]: () => ({
          ...iterator,
          return: () => Promise.resolve({ done: true as const, value: ++returned }),
        }),
      }
      await (await serve(unread)).fetch('/', { method: 'HEAD' })
      expect(returned).to.equal(1)
      expect(fetch).to.be.a('function')
    })

    it('ends when the application begins to close', async () => {
      const aborted = deferred()
      const app = createApp({ logger: false, shutdownTimeout: 60 }).use(
        createRouter().get('/', (ctx) =>
          sse(ctx, ({ signal }) => {
            signal.addEventListener('abort', () => aborted.resolve())
            return silent()
          }),
        ),
      )
      const { fetch } = await open(app)
      const response = await fetch('/')
      const text = response.text()
      const closing = app.close()
      expect(await text).to.equal('')
      await aborted.promise
      await closing
    })

    it('makes no event while the client reads nothing', async () => {
      let made = 0
      const { url } = await serve(
        async function* () {
          for (;;) {
            made++
            yield 'x'.repeat(100_000)
            await new Promise(setImmediate)
          }
        },
        { heartbeat: '1ms' },
      )
      const socket = get(url)
      await once(socket, 'readable')
      let before = -1
      while (before !== made) {
        before = made
        await wait(60)
      }
      expect(made).to.be.lessThan(200)
      socket.destroy()
    })

    it('sends the last event to a slow client, without a comment after it', async () => {
      const { url } = await serve(() => ['x'.repeat(8_000_000)], { heartbeat: '1ms' })
      const socket = get(url)
      await once(socket, 'readable')
      await wait(30)
      let size = 0
      let end = ''
      for await (const chunk of socket) {
        size += (chunk as Buffer).length
        end = (end + (chunk as Buffer).toString('latin1').slice(-5)).slice(-5)
        if (end === '0\r\n\r\n') break
      }
      expect(size).to.be.greaterThan(8_000_000)
      expect(errors).to.deep.equal([])
    })

    it('lets other work run while events are always ready', async () => {
      let made = 0
      const { url } = await serve(async function* () {
        for (; made < 100_000; made++) yield 'x'
      })
      const socket = get(url)
      await once(socket, 'readable')
      expect(made).to.be.lessThan(2000)
      socket.destroy()
    })

    it('asks a source for nothing after the client has left', async () => {
      let started = 0
      const gone = deferred()
      const app = createApp({ logger: false }).use(
        createRouter().get('/', async (ctx) => {
          const left = once(ctx.signal, 'abort')
          gone.resolve()
          await left
          return sse(ctx, () => [String(++started)])
        }),
      )
      const { url } = await open(app)
      const socket = get(url)
      await gone.promise
      socket.destroy()
      await app.close()
      expect(started).to.equal(0)
    })

    const failing: readonly (readonly [string, unknown, RegExp])[] = [
      ['an error of the source', new Error('The source failed.'), /The source failed/],
      ['a string that the source throws', new Thrown('no events'), /not an Error was thrown: "no events"/],
      ['nothing that the source throws', new Thrown(undefined), /was thrown: undefined/],
      ['a line break in a name', { event: 'a\ndata: b' }, /line break/],
      ['a line break in an id', { id: 'a\rb', data: 1 }, /line break/],
      ['a NUL in an id', { id: 'a\0b', data: 1 }, /NUL/],
      ['a NUL in a name', { event: 'a\0b', data: 1 }, /NUL/],
      ['an unknown key', { dat: 1 }, /the key 'dat'/],
      ['a value that is not an event', 7, /Yield a string or \{ data \}/],
      ['null', null, /An event is null\. Yield a string or \{ data \}/],
      ['data that is not JSON', { data: 1n }, /bigint/],
    ]
    it('closes the connection and logs the request after a failure', async () => {
      for (const [what, event, message] of failing) {
        errors.length = 0
        const { fetch } = await serve(async function* () {
          yield 'first'
          await new Promise(setImmediate)
          if (event instanceof Error) throw event
          if (event instanceof Thrown) throw event.value
          yield event as never
        })
        const response = await fetch('/', { headers: { 'X-Request-Id': 'r-1' } })
        expect(response.status, what).to.equal(200)
        expect(await response.text().catch(() => 'cut off'), what).to.equal('cut off')
        const [found] = errors
        expect(errors, what).to.have.length(1)
        expect((found!['err'] as { message: string }).message, what).to.match(message)
        expect(found!['requestId'], what).to.equal('r-1')
      }
    })

    it('becomes a problem if it is not given events', async () => {
      for (const events of [undefined, 'text', 7, {}, null, () => 7]) {
        const response = await (await serve(events as never)).fetch('/')
        expect([response.status, await response.text()].join(' ')).to.match(/^500 .*sse\(\) was given /)
      }
      for (const heartbeat of ['often', 5000])
        expect((await (await serve([], { heartbeat })).fetch('/')).status).to.equal(500)
    })

    it('sends the data of each event through the schema of the route', async () => {
      const schema = object({ n: number().required() })
      const app = createApp({ logger: false }).use(
        createRouter().get('/', { response: { 200: { type: 'text/event-stream', schema } } }, (ctx) =>
          sse(ctx, async function* () {
            yield { data: { n: 1, secret: 'x' } }
            await new Promise(setImmediate)
            yield { event: 'end', data: { n: 'two' as never } }
          }),
        ),
      )
      const { fetch } = await open(app)
      const response = await fetch('/')
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      const read = async (): Promise<void> => {
        for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value
      }
      expect(await read().catch(() => 'cut off')).to.equal('cut off')
      expect(text).to.equal('data: {"n":1}\n\n')
    })

    it('leaves no timer and no listener on a connection', async () => {
      const { setInterval: start, clearInterval: stop } = globalThis
      const running = new Set<unknown>()
      Object.assign(globalThis, {
        setInterval: (...args: Parameters<typeof start>) => {
          const timer = start(...args)
          running.add(timer)
          return timer
        },
        clearInterval: (timer: NodeJS.Timeout | undefined) => {
          running.delete(timer)
          stop(timer)
        },
      })
      try {
        const counts: number[] = []
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) => {
            const { socket } = ctx.koa.req
            counts.push(socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0))
            return sse(ctx, ({ signal }) => [String(signal.aborted)], { heartbeat: '1h' })
          }),
        )
        const { fetch } = await open(app)
        for (let round = 0; round < 4; round++)
          expect(await (await fetch('/')).text()).to.equal('data: false\n\n')
        expect(counts[3]).to.equal(counts[1])
        expect([...running].filter((timer) => (timer as NodeJS.Timeout).hasRef() === false)).to.deep.equal([])
      } finally {
        Object.assign(globalThis, { setInterval: start, clearInterval: stop })
      }
    })

    it('passes Koa middleware unchanged', async () => {
      const app = createApp({ logger: false })
        .use(fromKoa((_ctx, next) => next()))
        .use(createRouter().get('/', (ctx) => sse(ctx, ['a'])))
      const response = await (await open(app)).fetch('/')
      expect([response.headers.get('content-type'), await response.text()]).to.deep.equal([
        'text/event-stream',
        'data: a\n\n',
      ])
    })
  })

  it('works with inject', async () => {
    const app = createApp({ logger: false }).use(createRouter().get('/', (ctx) => sse(ctx, ['a', 'b'])))
    expect((await app.inject('/')).body).to.equal('data: a\n\ndata: b\n\n')
    await app.close()
  })
})

async function* silent(): AsyncGenerator<string> {
  await deferred().promise
  yield ''
}

function get(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return socket
}

/** Reads until the text was received. */
async function until(socket: Socket, text: string): Promise<void> {
  let got = ''
  while (!got.includes(text)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    got += chunk.toString()
  }
}
