import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApp, createRouter, sendFile, type SendFileOptions } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

describe('The caching of sendFile', () => {
  let folder: string
  const at = (name: string): string => join(folder, name)
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'send-file-caching-'))
    await writeFile(at('a.txt'), 'abcdefghijklmnopqrstuvwxyz')
  })
  after(() => rm(folder, { recursive: true }))

  throughBothAdapters((open) => {
    for (const [who, credential, shared] of [
      ['a stranger', {}, 'public'],
      ['a signed-in user', bearer('ada'), 'private'],
    ] as const)
      it(`controls caches for ${who}`, async () => {
        const cases: readonly (readonly [SendFileOptions, string | null, string?])[] = [
          [{}, shared === 'public' ? 'no-cache' : 'private, no-cache'],
          [{ immutable: true }, shared === 'public' ? 'no-cache' : 'private, no-cache'],
          [{ maxAge: '1h' }, `${shared}, max-age=3600`],
          [{ maxAge: 0 }, `${shared}, max-age=0`],
          [{ maxAge: 2.9 }, `${shared}, max-age=2`],
          [{ maxAge: 5, immutable: true }, `${shared}, max-age=5, immutable`],
          [{ maxAge: 5, immutable: false }, `${shared}, max-age=5`],
          [{ maxAge: 5, cacheControl: 'no-store' }, 'no-store'],
          [{ maxAge: 5, cacheControl: false }, null],
          [{ maxAge: 5 }, 'no-store', 'no-store'],
        ]
        for (const [options, expected, present] of cases) {
          const app = createApp({ logger: false })
            .use(tokens())
            .use(
              createRouter().get('/', (ctx) => {
                if (present !== undefined) ctx.set('Cache-Control', present)
                return sendFile(ctx, at('a.txt'), options)
              }),
            )
          const { fetch } = await open(app)
          const first = await fetch('/', { headers: credential })
          expect(first.headers.get('cache-control'), JSON.stringify(options)).to.equal(expected)
          for (const headers of [{ Range: 'bytes=0-1' }, { 'If-None-Match': first.headers.get('etag')! }]) {
            const next = await fetch('/', {
              headers: { 'Cache-Control': 'max-age=0', ...credential, ...headers },
            })
            expect(next.headers.get('cache-control'), JSON.stringify(headers)).to.equal(expected)
          }
        }
      })
  })
})
