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

    it('sets no header of the file for a request that it refuses and a middleware responds to', async () => {
      const app = createApp({ logger: false })
        .use((_ctx, next) => next().catch(() => 'own'))
        .use(createRouter().get('/', (ctx) => sendFile(ctx, at('a.txt'), { maxAge: '1h', filename: 'a' })))
      const { fetch } = await open(app)
      for (const headers of [{ 'If-Match': '"x"' }, { Range: 'bytes=99-' }]) {
        const response = await fetch('/', { headers })
        expect([response.status, await response.text()]).to.deep.equal([200, 'own'])
        for (const name of ['etag', 'last-modified', 'cache-control', 'accept-ranges', 'content-disposition'])
          expect(response.headers.get(name), name).to.equal(null)
      }
    })

    it('follows the conditions of a request for a source, and opens only what it sends', async () => {
      const date = new Date('2026-03-01T12:00:00Z').toUTCString()
      const bare = { size: 3 }
      const full = { size: 3, etag: '"v1"', lastModified: new Date(date) }
      const cases: readonly (readonly [object, string, Record<string, string>, number, number])[] = [
        [bare, 'GET', {}, 200, 1],
        [{ ...bare, lastModified: null }, 'GET', {}, 200, 1],
        [bare, 'GET', { 'If-Match': '"v1"' }, 412, 0],
        [bare, 'GET', { 'If-Match': '*' }, 200, 1],
        [bare, 'GET', { 'If-Unmodified-Since': date }, 200, 1],
        [bare, 'GET', { 'If-None-Match': '"v1"' }, 200, 1],
        [bare, 'GET', { 'If-Range': date, Range: 'bytes=0-1' }, 200, 1],
        [full, 'HEAD', {}, 200, 0],
        [full, 'GET', { 'If-None-Match': '"v1"' }, 304, 0],
        [full, 'GET', { Range: 'bytes=3-' }, 416, 0],
        [full, 'GET', { Range: 'bytes=2-' }, 206, 1],
        [{ ...full, size: 0 }, 'GET', {}, 200, 0],
      ]
      for (const [source, method, headers, status, count] of cases) {
        let opened = 0
        const bytes = ({ start, end }: { start: number; end: number }) => {
          opened += 1
          return Buffer.from('abc').subarray(start, end + 1)
        }
        const app = createApp({ logger: false }).use(
          createRouter().get('/', (ctx) => sendFile(ctx, { ...(source as { size: number }), open: bytes })),
        )
        const { fetch } = await open(app)
        const response = await fetch('/', { method, headers: { 'Cache-Control': 'max-age=0', ...headers } })
        await response.text()
        const what = `${method} ${JSON.stringify([source, headers])}`
        expect([response.status, opened], what).to.deep.equal([status, count])
      }
    })
  })
})
