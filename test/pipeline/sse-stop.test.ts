import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, sse, type App, type Context } from 'mortar'
import { endEvents } from '../../src/pipeline/end-with-session.ts'
import { recorder } from '../app/recorder.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'

describe('The stop of an application', () => {
  throughBothAdapters((open) => {
    /** Resolves with what a client gets of an application that closes during the response. */
    async function textUntilClose(app: App): Promise<string> {
      const { fetch } = await open(app)
      const text = (await fetch('/')).text()
      await app.close()
      return text
    }

    it('does not wait for a client that reads no events', async () => {
      // With a deadline that outlasts the test.
      const app = createApp({ logger: false, shutdownTimeout: '1h' }).use(
        createRouter().get('/', (ctx) =>
          sse(ctx, async function* () {
            // More than the buffers of a connection.
            yield 'x'.repeat(20_000_000)
            await new Promise(() => {})
          }),
        ),
      )
      const { url } = await open(app)
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      try {
        await once(socket, 'readable')
        await app.close()
      } finally {
        socket.destroy()
      }
    })

    it('logs no failure of a source that waits by an API of Node with the signal', async () => {
      const lines: string[] = []
      const app = createApp({ logger: recorder(lines), shutdownTimeout: '1h' }).use(
        createRouter().get('/', (ctx) =>
          sse(ctx, async function* ({ signal }) {
            yield 'first'
            await once(new EventEmitter(), 'never', { signal })
          }),
        ),
      )
      expect(await textUntilClose(app)).to.equal('data: first\n\n')
      // Koa reports an error of a stream later.
      for (let turn = 0; turn < 5; turn++) await nextTurn()
      expect(lines.filter((line) => line.startsWith('error'))).to.deep.equal([])
    })

    it('ends a stream of which the handler has sent the headers itself', async () => {
      const app = createApp({ logger: false, shutdownTimeout: '1h' }).use(
        createRouter().get('/', async function* (ctx: Context) {
          ctx.type = 'text/event-stream'
          ctx.koa.res.flushHeaders()
          yield 'data: first\n\n'
          await new Promise(() => {})
        }),
      )
      expect(await textUntilClose(app)).to.equal('data: first\n\n')
    })

    it('ends a stream of which only the route declares that it is server-sent events', async () => {
      const response = { 200: { type: 'text/event-stream' } }
      const app = createApp({ logger: false, shutdownTimeout: 5 }).use(
        createRouter().get('/', { response }, async function* () {
          yield 'data: first\n\n'
          await new Promise(() => {})
        }),
      )
      expect(await textUntilClose(app)).to.equal('data: first\n\n')
    })

    it('ends a stream whose type the handler has written in other letters', async () => {
      const app = createApp({ logger: false, shutdownTimeout: '1h' }).use(
        createRouter().get('/', async function* (ctx: Context) {
          ctx.set('Content-Type', 'Text/Event-Stream; charset=utf-8')
          yield 'data: first\n\n'
          await new Promise(() => {})
        }),
      )
      expect(await textUntilClose(app)).to.equal('data: first\n\n')
    })

    const late: Readonly<Record<string, (ctx: Context) => unknown>> = {
      'a stream of events': (ctx) => {
        ctx.type = 'text/event-stream'
        return new Readable({ read() {} })
      },
      'a stream of events whose headers are sent': (ctx) => {
        ctx.type = 'text/event-stream'
        ctx.koa.res.flushHeaders()
        return new Readable({ read() {} })
      },
      'a stream that waits for its signal': (ctx) => {
        const stream = new Readable({ read() {} })
        if (ctx.signal.aborted) stream.push(null)
        return stream
      },
    }
    for (const [name, begin] of Object.entries(late))
      it(`ends what begins after it: ${name}`, async () => {
        const [entered, isClosing] = [deferred(), deferred()]
        const app = createApp({ logger: false, shutdownTimeout: '1h' }).use(
          createRouter().get('/', async (ctx) => {
            entered.resolve()
            await isClosing.promise
            return begin(ctx)
          }),
        )
        const { fetch } = await open(app)
        const response = fetch('/')
        await entered.promise
        const closed = app.close()
        isClosing.resolve()
        expect([(await response).status, await (await response).text()]).to.deep.equal([200, ''])
        await closed
      })
  })
})

describe('The end of an event stream', () => {
  it('cuts off a client that reads nothing after 50 ms, and leaves no timer for others', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const responseOf = () => {
      let cuts = 0
      const res = Object.assign(new EventEmitter(), { end: () => undefined, destroy: () => ++cuts })
      const payload = new Readable({ read() {} })
      endEvents(res as never, payload)
      return { res, payload, cuts: () => cuts }
    }
    const [slow, quick] = [responseOf(), responseOf()]
    quick.res.emit('finish')
    quick.res.emit('close')
    mock.timers.tick(49)
    expect([slow.cuts(), slow.payload.destroyed, quick.payload.destroyed]).to.deep.equal([0, false, true])
    mock.timers.tick(1)
    expect([slow.cuts(), quick.cuts()]).to.deep.equal([1, 0])
    mock.timers.reset()
  })
})
