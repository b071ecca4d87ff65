import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, fromKoa, sendFile, sse, type Context, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'

/** Handlers that forget the `return`, by what they do instead. Mocha fails for an unhandled rejection. */
const FORGETFUL: Readonly<Record<string, (begin: () => Promise<unknown>) => unknown>> = {
  'and returns': (begin) => void begin(),
  'and works on': async (begin) => {
    void begin()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
  },
  'and awaits it': async (begin) => {
    await begin()
  },
}

describe('The result of sse() or sendFile() that a handler does not return', () => {
  throughBothAdapters((open) => {
    const serve = async (handler: (ctx: Context) => unknown, { koa = false } = {}) => {
      const lines: { readonly fields: Record<string, unknown>; readonly message: string }[] = []
      const logger: Logger = {
        debug: ignore,
        info: ignore,
        warn: ignore,
        error: (fields: unknown, message?: string) =>
          void lines.push({ fields: fields as Record<string, unknown>, message: message ?? '' }),
        child: () => logger,
      }
      const router = createRouter().get('/feed', handler)
      const app = createApp({ logger, environment: 'production' })
      if (koa) app.use(fromKoa((_ctx, next) => next()))
      const { fetch } = await open(app.use(router.get('/up', () => 'up')))
      return { fetch, lines }
    }

    for (const [what, forget] of Object.entries(FORGETFUL))
      for (const koa of [false, true])
        it(`is a 500 that names the route and the remedy: ${what}${koa ? ', behind Koa middleware' : ''}`, async () => {
          for (const name of ['sse', 'sendFile']) {
            const { fetch, lines } = await serve(
              (ctx) => forget(() => (name === 'sse' ? sse(ctx, ['a']) : sendFile(ctx, Buffer.from('a')))),
              { koa },
            )
            const response = await fetch('/feed')
            expect([response.status, response.headers.get('content-type')], name).to.deep.equal([
              500,
              'application/problem+json',
            ])
            expect(await (await fetch('/up')).text()).to.equal('up')
            expect(lines, name).to.have.lengthOf(1)
            expect(lines[0]!.fields).to.include({ route: '/feed', status: 500 })
            expect((lines[0]!.fields['err'] as Error).message).to.match(
              new RegExp(`^GET /feed \\(.*\\) called ${name}\\(\\) .* 'return ${name}\\(ctx, …\\)'`),
            )
          }
        })

    it('releases its source', async () => {
      const closed = deferred()
      const events = {
        [Symbol.asyncIterator]: () => ({
          next: () => deferred().promise as Promise<never>,
          return: () => {
            closed.resolve()
            return Promise.resolve({ done: true as const, value: undefined })
          },
        }),
      }
      const { fetch } = await serve(async (ctx) => {
        await sse(ctx, events)
      })
      expect((await fetch('/feed')).status).to.equal(500)
      await closed.promise
    })

    it('is a logged error if the handler returns another value', async () => {
      const { fetch, lines } = await serve((ctx) => {
        void sse(ctx, ['a'])
        return { ok: true }
      })
      expect(await (await fetch('/feed')).json()).to.deep.equal({ ok: true })
      while (lines.length === 0) await nextTurn()
      expect(lines[0]!.message).to.contain("'return sse(ctx, …)'")
      expect(lines[0]!.fields).to.include({ route: '/feed' })
      expect(await (await fetch('/up')).text()).to.equal('up')
    })

    it('is ended if it is ready before the handler returns another value', async () => {
      const ended = deferred()
      const events = {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: 'a' }),
          return: async () => {
            ended.resolve()
            return { done: true, value: undefined }
          },
        }),
      }
      const { fetch } = await serve(async (ctx) => {
        // The first call loads the module.
        ;(await sse(ctx, [])).destroy()
        void sse(ctx, events as AsyncIterable<string>)
        for (let turn = 0; turn < 20; turn++) await nextTurn()
        return 'other'
      })
      expect(await (await fetch('/feed')).text()).to.equal('other')
      await ended.promise
    })

    it('is a logged error if it fails before the handler returns another value', async () => {
      const { fetch, lines } = await serve(async (ctx) => {
        void sendFile(ctx, '/does/not/exist')
        for (let turn = 0; turn < 20; turn++) await nextTurn()
        return 'other'
      })
      expect(await (await fetch('/feed')).text()).to.equal('other')
      while (lines.length === 0) await nextTurn()
      expect(lines[0]!.message).to.contain("'return sendFile(ctx, …)'")
    })

    it('is a 500 that names the remedy also if it fails before the handler returns', async () => {
      const { fetch, lines } = await serve(async (ctx) => {
        void sendFile(ctx, '/does/not/exist')
        for (let turn = 0; turn < 20; turn++) await nextTurn()
      })
      expect((await fetch('/feed')).status).to.equal(500)
      expect((lines[0]!.fields['err'] as Error).message).to.contain("'return sendFile(ctx, …)'")
    })

    it('may be replaced by an empty response if it failed and the handler caught the error', async () => {
      for (const koa of [false, true]) {
        const { fetch, lines } = await serve(
          async (ctx) => {
            try {
              return await sendFile(ctx, '/does/not/exist')
            } catch {
              ctx.redirect('/elsewhere')
              return undefined
            }
          },
          { koa },
        )
        const response = await fetch('/feed', { redirect: 'manual' })
        expect([response.status, response.headers.get('location')]).to.deep.equal([302, '/elsewhere'])
        expect(lines).to.deep.equal([])
      }
    })

    it('is a 500 also if an earlier one has failed, whose error the handler caught', async () => {
      const { fetch, lines } = await serve(async (ctx) => {
        const file = sendFile(ctx, '/does/not/exist')
        void sse(ctx, ['a'])
        await file.catch(ignore)
      })
      expect((await fetch('/feed')).status).to.equal(500)
      expect((lines[0]!.fields['err'] as Error).message).to.contain('called sse() and returned nothing')
    })

    it('is refused after the handler has ended the response itself', async () => {
      const errors: unknown[] = []
      const { fetch } = await serve(async (ctx) => {
        ctx.koa.res.end('own')
        await sse(ctx, ['a']).catch((error: unknown) => errors.push(error))
      })
      expect(await (await fetch('/feed')).text()).to.equal('own')
      expect(String(errors[0])).to.contain('the response of GET /feed was already sent')
    })

    it('may fail before the handler returns it', async () => {
      const { fetch, lines } = await serve(async (ctx) => {
        const file = sendFile(ctx, '/does/not/exist')
        for (let turn = 0; turn < 20; turn++) await nextTurn()
        return file
      })
      expect((await fetch('/feed')).status).to.equal(404)
      expect(await (await fetch('/up')).text()).to.equal('up')
      expect(lines).to.deep.equal([])
    })

    it('is refused for another object than the ctx of a handler', async () => {
      const { fetch, lines } = await serve((ctx) =>
        sendFile(ctx.koa as unknown as Context, '/does/not/exist'),
      )
      expect((await fetch('/feed')).status).to.equal(500)
      expect((lines[0]!.fields['err'] as Error).message).to.contain('sendFile() is not the ctx of a handler')
    })
  })
})
