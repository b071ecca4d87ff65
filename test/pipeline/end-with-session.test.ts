import { setImmediate as nextTurn } from 'node:timers/promises'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  sendFile,
  sse,
  type Context,
  type Handler,
  type ResponseTarget,
} from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { as, createSessions } from '../support/session-brick.ts'

async function* forever(signals: AbortSignal[], { signal }: { readonly signal: AbortSignal }) {
  signals.push(signal)
  yield 'first'
  await once(signal, 'abort')
}

describe('A long response of a guarded route', () => {
  throughBothAdapters((open) => {
    const serve = async (handler: Handler, auth: boolean = true) => {
      const ending = createSessions()
      const app = createApp({ logger: false, environment: 'test' })
        .use(ending.brick)
        .use(createRouter().get('/', { auth }, handler as never))
      const { fetch } = await open(app)
      const watched = async (count: number): Promise<void> => {
        while (ending.watchers.size !== count) await nextTurn()
      }
      return {
        ...ending,
        watched,
        get: (init: RequestInit = {}) => fetch('/', { headers: as('ada'), ...init }),
      }
    }

    it('ends complete when it is server-sent events, and ctx.signal aborts', async () => {
      const signals: AbortSignal[] = []
      const { get, end, watched } = await serve((ctx) => sse(ctx, (request) => forever(signals, request)))
      const response = await get()
      await watched(1)
      end()
      expect(await response.text()).to.equal('data: first\n\n')
      expect(signals[0]!.reason).to.include({ status: 401, code: 'invalid_token' })
      await watched(0)
    })

    const cut: Readonly<Record<string, Handler>> = {
      'an async iterable': (ctx) => forever([], ctx),
      'an async iterable after headers that the handler has sent': (ctx) => {
        ctx.koa.res.flushHeaders()
        return forever([], ctx)
      },
      'a download that its client reads slowly': (ctx) => sendFile(ctx, Buffer.alloc(64 * 1024 * 1024)),
    }
    for (const [name, handler] of Object.entries(cut))
      it(`is cut off when it is ${name}, and ctx.signal has the reason`, async () => {
        let context!: Context
        const { get, end, watched } = await serve((ctx) => handler((context = ctx)))
        const response = await get()
        await watched(1)
        end()
        expect(await response.arrayBuffer().catch((error: Error) => error)).to.be.instanceOf(TypeError)
        await watched(0)
        // The handler of the download first reads it now.
        expect(context.signal.reason).to.include({ status: 401, code: 'invalid_token' })
      })

    it('becomes a 401 before its first byte', async () => {
      const { get, end, watched } = await serve(() => new PassThrough())
      const response = get()
      await watched(1)
      end()
      expect((await response).status).to.equal(401)
      expect((await response).headers.get('www-authenticate')).to.contain('invalid_token')
    })

    it('is no longer watched when its client has left, or it is over', async () => {
      const signals: AbortSignal[] = []
      const { get, watched } = await serve((ctx) => sse(ctx, (request) => forever(signals, request)))
      const leaving = new AbortController()
      await get({ signal: leaving.signal })
      await watched(1)
      leaving.abort()
      await watched(0)
      const short = await serve((ctx) => sse(ctx, ['only']))
      await (await short.get()).text()
      await short.watched(0)
    })

    it('is the only one that is watched', async () => {
      const events = (ctx: ResponseTarget) => sse(ctx, ['only'])
      for (const [handler, auth, method] of [
        [() => ({ short: true }), true, 'GET'],
        [() => Buffer.from('short'), true, 'GET'],
        [events, true, 'HEAD'],
        [events, false, 'GET'],
      ] as const) {
        const { get, watchers } = await serve(handler, auth)
        const add = watchers.add.bind(watchers)
        let count = 0
        watchers.add = (onEnd) => {
          count += 1
          return add(onEnd)
        }
        expect((await get({ method })).status).to.equal(200)
        expect(count).to.equal(0)
      }
    })
  })
})
