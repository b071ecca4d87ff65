import { expect } from 'chai'
import { createApp, createRouter, sendFile } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'

describe('a source that sendFile cannot send', () => {
  throughBothAdapters((open) => {
    it('lets no cache keep a failure for the lifetime of the file', async () => {
      const failing = {
        open: () => Promise.reject(new Error('The storage is down.')),
        empty: () => Promise.resolve(Buffer.alloc(0)),
      }
      const app = createApp({ logger: false }).use(
        createRouter().get('/:kind', (ctx) =>
          sendFile(
            ctx,
            { size: 3, open: failing[(ctx.params as { kind: keyof typeof failing }).kind] },
            { maxAge: '365d', immutable: true },
          ),
        ),
      )
      const { fetch } = await open(app)
      for (const kind of Object.keys(failing)) {
        const response = await fetch(`/${kind}`)
        expect([response.status, response.headers.get('cache-control')], kind).to.deep.equal([500, null])
      }
    })

    it('refuses a lastModified that is not a valid date', async () => {
      for (const [lastModified, found] of [
        [new Date(Number.NaN), 'an invalid Date'],
        ['2026-11-22', 'a string'],
      ] as const) {
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) =>
            sendFile(ctx, { size: 3, lastModified: lastModified as Date, open: () => Buffer.from('abc') }),
          ),
        )
        const response = await (await open(app)).fetch('/')
        expect(response.status).to.equal(500)
        expect(await response.text()).to.contain(`The lastModified of a file is ${found}, not a valid Date.`)
      }
    })

    it('refuses a size that is not a number of bytes', async () => {
      for (const size of [Number.NaN, undefined, -1, 1.5, Number.POSITIVE_INFINITY, '3']) {
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) =>
            sendFile(ctx, { size: size as number, open: () => Buffer.from('abc') }),
          ),
        )
        const { fetch } = await open(app)
        expect((await fetch('/', { method: 'HEAD' })).status, String(size)).to.equal(500)
        expect(await (await fetch('/')).text()).to.contain('The size of a file is')
      }
    })
  })
})
