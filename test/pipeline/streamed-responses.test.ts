import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, sendFile, sse } from 'mortar'
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
