import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, sendFile, sse, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters } from '../support/adapters.ts'

describe('A response of sse or sendFile', () => {
  throughBothAdapters((open) => {
    it('has no more listeners on a response than Node accepts', async () => {
      const warnings: Error[] = []
      const onWarning = (warning: Error): void => void warnings.push(warning)
      process.on('warning', onWarning)
      const app = createApp().use(
        createRouter().get('/', (ctx) => sse(ctx, ({ signal }) => [String(signal.aborted)])),
      )
      app.events.on('request.completed', ignore)
      expect(await (await (await open(app)).fetch('/')).text()).to.equal('data: false\n\n')
      await wait(0)
      process.off('warning', onWarning)
      expect(warnings).to.deep.equal([])
    })

    it('names a missing return, as sendFile does', async () => {
      const messages: Promise<string>[] = []
      const keep = (promise: Promise<unknown>): void => {
        messages.push(promise.then(String, (error: Error) => error.message))
      }
      const app = createApp({ logger: false }).use(
        createRouter()
          .get('/events', (ctx) => keep(once(ctx.koa.res, 'finish').then(() => sse(ctx, ['a']))))
          .get('/file', (ctx) => keep(once(ctx.koa.res, 'finish').then(() => sendFile(ctx, '/nothing')))),
      )
      const { fetch } = await open(app)
      for (const path of ['/events', '/file']) expect((await fetch(path)).status).to.equal(204)
      const [events, file] = await Promise.all(messages)
      expect(events).to.contain('return sse(ctx')
      expect(file).to.contain('return sendFile(ctx')
    })
  })
})

/** Breaks a stream before or while it is sent. */
type Break = (stream: PassThrough) => unknown

const BREAKS: Readonly<Record<string, readonly [Break, emitted: string, isLogged: boolean]>> = {
  'fails half-way': [(stream) => setImmediate(() => stream.destroy(new Error('broken'))), 'broken', true],
  'ends half-way': [(stream) => setImmediate(() => stream.destroy()), 'Premature close', false],
  'had failed': [(stream) => stream.on('error', ignore).destroy(new Error('broken')), 'broken', true],
  'was read by other code': [(stream) => once(stream.end().resume(), 'close'), 'Premature close', false],
  'had ended early': [(stream) => stream.destroy(), 'Premature close', false],
}

describe('A stream behind headers that the handler has sent', () => {
  throughBothAdapters((open) => {
    for (const [name, [breakIt, emitted, isLogged]] of Object.entries(BREAKS))
      it(`closes the connection and is reported once when it ${name}`, async () => {
        const lines: unknown[] = []
        let id: string | undefined
        const error = ({ requestId, route, err }: Record<string, unknown>, message: string): void =>
          void lines.push([requestId, route, (err as Error).message, message])
        const logger: Logger = {
          debug: ignore,
          info: ignore,
          warn: ignore,
          error: error as never,
          child: () => logger,
        }
        const app = createApp({ logger, logRequests: false }).use(
          createRouter().get('/items/:id', async (ctx) => {
            id = ctx.id
            ctx.koa.res.flushHeaders()
            const stream = new PassThrough()
            stream.write('part')
            await nextTurn()
            await breakIt(stream)
            return stream
          }),
        )
        const events: unknown[] = []
        app.koa.on('error', ({ message }: Error) => events.push(message))
        const { fetch, close } = await open(app)
        const text = (await fetch('/items/7')).text()
        expect(await text.catch(() => 'cut off')).to.equal('cut off')
        await close()
        expect(events).to.deep.equal([emitted])
        const line = [id, '/items/:id', 'broken', 'The body of a response failed']
        expect(lines).to.deep.equal(isLogged ? [line] : [])
      })
  })
})
