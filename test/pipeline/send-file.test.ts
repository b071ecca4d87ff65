import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { createApp, createRouter, defineRoute, fromKoa, sendFile, type SendFileOptions } from 'mortar'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'

const TEXT = 'abcdefghijklmnopqrstuvwxyz'
const CHANGED = new Date('2026-03-01T12:00:00Z')
const DATE = CHANGED.toUTCString()

describe('sendFile', () => {
  let folder: string
  const at = (name: string): string => join(folder, name)

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'send-file-'))
    await mkdir(at('inside/sub'), { recursive: true })
    const files = ['a.txt', 'outside.txt', 'inside/a.txt', 'inside/sub/b.html', 'inside/.env', 'inside/noext']
    for (const name of files) await writeFile(at(name), TEXT)
    await writeFile(at('empty'), '')
    await writeFile(at('big'), Buffer.alloc(4_000_000, 65))
    await symlink(at('inside/a.txt'), at('inside/link-inside'))
    await symlink(at('outside.txt'), at('inside/link-outside'))
    await symlink(folder, at('inside/folder-outside'))
    await mkdir(at('inside/.hidden'))
    await mkdir(at('inside-beside'))
    for (const name of ['inside/.hidden/a.txt', 'inside/..a.txt', 'inside-beside/a.txt'])
      await writeFile(at(name), TEXT)
    await symlink(at('inside/.env'), at('inside/link-hidden'))
    await symlink(at('inside/a.txt'), at('inside/.link'))
    await symlink(at('inside-beside/a.txt'), at('inside/link-beside'))
    await symlink(at('inside'), at('link-to-inside'))
    for (const name of ['in', 'to-inside']) await symlink(at('inside'), at(name))
    await symlink(at('circle'), at('circle'))
    await utimes(at('a.txt'), CHANGED, CHANGED)
  })
  after(() => rm(folder, { recursive: true }))

  throughBothAdapters((open) => {
    const serve = (options: SendFileOptions = {}, path = 'a.txt'): Promise<ServedApp> =>
      open(
        createApp({ logger: false }).use(
          createRouter()
            .get('/', (ctx) => sendFile(ctx, options.root === undefined ? at(path) : path, options))
            .get('/of', (ctx) => sendFile(ctx, String(ctx.query['path']), options)),
        ),
      )
    const headersOf = ({ headers }: Response, ...names: string[]) => names.map((name) => headers.get(name))

    it('sends a file with its length, type, validators and caching', async () => {
      const { fetch } = await serve()
      for (const method of ['GET', 'HEAD']) {
        const response = await fetch('/', { method })
        expect([response.status, await response.text()]).to.deep.equal([200, method === 'GET' ? TEXT : ''])
        expect(
          headersOf(
            response,
            'content-length',
            'content-type',
            'last-modified',
            'accept-ranges',
            'cache-control',
            'x-content-type-options',
          ),
        ).to.deep.equal(['26', 'text/plain; charset=utf-8', DATE, 'bytes', 'no-cache', 'nosniff'])
        expect(response.headers.get('etag')).to.match(/^"[\da-f]+-[\da-f]+"$/)
      }
    })

    it('follows the conditions of a request', async () => {
      const { fetch } = await serve()
      const etag = (await fetch('/')).headers.get('etag')!
      const earlier = new Date(CHANGED.getTime() - 1000).toUTCString()
      const later = new Date(CHANGED.getTime() + 1000).toUTCString()
      const cases: readonly (readonly [Record<string, string>, number])[] = [
        [{ 'If-None-Match': etag }, 304],
        [{ 'If-None-Match': `"x", W/${etag}` }, 304],
        [{ 'If-None-Match': '*' }, 304],
        [{ 'If-None-Match': '"x"' }, 200],
        [{ 'If-None-Match': '"x"', 'If-Modified-Since': DATE }, 200],
        [{ 'If-Modified-Since': DATE }, 304],
        [{ 'If-Modified-Since': earlier }, 200],
        [{ 'If-Modified-Since': 'yesterday' }, 200],
        [{ 'If-Match': etag }, 200],
        [{ 'If-Match': '*' }, 200],
        [{ 'If-Match': `"x", ${etag}` }, 200],
        [{ 'If-Match': `W/${etag}` }, 412],
        [{ 'If-Match': '"x"' }, 412],
        [{ 'If-Match': etag, 'If-Unmodified-Since': earlier }, 200],
        [{ 'If-Unmodified-Since': DATE }, 200],
        [{ 'If-Unmodified-Since': later }, 200],
        [{ 'If-Unmodified-Since': earlier }, 412],
        [{ 'If-Unmodified-Since': 'yesterday' }, 200],
        [{ 'If-None-Match': etag, Range: 'bytes=0-1' }, 304],
        [{ 'If-Range': etag, Range: 'bytes=0-1' }, 206],
        [{ 'If-Range': DATE, Range: 'bytes=0-1' }, 206],
        [{ 'If-Range': `W/${etag}`, Range: 'bytes=0-1' }, 200],
        [{ 'If-Range': '"x"', Range: 'bytes=0-1' }, 200],
        [{ 'If-Range': later, Range: 'bytes=0-1' }, 200],
        [{ 'If-Range': '"x"', Range: 'bytes=99-' }, 200],
      ]
      for (const [headers, status] of cases) {
        // Without a value of its own, `fetch` sends `no-cache` with conditional headers.
        const init = { headers: { ...headers, 'Cache-Control': 'max-age=0' } }
        const response = await fetch('/', init)
        expect(response.status, JSON.stringify(headers)).to.equal(status)
        const body = await response.text()
        if (status === 304)
          expect([
            body,
            ...headersOf(response, 'etag', 'cache-control', 'content-length', 'content-type'),
          ]).to.deep.equal(['', etag, 'no-cache', null, null])
        if (status === 412) {
          expect(JSON.parse(body)).to.include({ code: 'precondition_failed' })
          expect(headersOf(response, 'etag', 'last-modified')).to.deep.equal([null, null])
        }
        expect((await fetch('/', { ...init, method: 'HEAD' })).status).to.equal(status === 206 ? 200 : status)
      }
    })

    it('has a weak entity tag for a file that has just changed, which If-Range does not match', async () => {
      await writeFile(at('new.txt'), TEXT)
      const { fetch } = await serve({}, 'new.txt')
      const etag = (await fetch('/')).headers.get('etag')!
      expect(etag).to.match(/^W\/"/)
      expect((await fetch('/', { headers: { Range: 'bytes=0-1', 'If-Range': etag } })).status).to.equal(200)
      for (const match of [etag, etag.slice(2), `"x", ${etag}`])
        expect((await fetch('/', { headers: { 'If-Match': match } })).status, match).to.equal(412)
      expect((await fetch('/', { headers: { 'If-Match': '*' } })).status).to.equal(200)
    })

    it('is a 404 for a path without a regular file', async () => {
      const { fetch } = await serve({ root: folder })
      for (const path of [
        'missing',
        'inside',
        'a.txt/',
        'a.txt/b',
        'x'.repeat(300),
        'a%00.txt',
        '%2e%2e/a.txt',
        'circle',
      ])
        expect((await fetch(`/of?path=${path}`)).status, path).to.equal(404)
      let thrown: { cause?: unknown } = {}
      const absent = createApp({ logger: false }).use(
        createRouter().get('/', (ctx) =>
          sendFile(ctx, at('missing')).catch((error: Error) => {
            thrown = error
            throw error
          }),
        ),
      )
      const response = await (await open(absent)).fetch('/')
      expect(response.status).to.equal(404)
      expect(await response.text()).not.to.contain(folder)
      expect(thrown.cause).to.include({ code: 'ENOENT', path: at('missing') })
    })

    for (const dotfiles of [undefined, false, true])
      it(`keeps to its root: paths and links that leave it are a 404 (dotfiles: ${dotfiles})`, async () => {
        const statuses = async (root: string, ...paths: string[]) => {
          const { fetch } = await serve({ root, ...(dotfiles !== undefined && { dotfiles }) })
          return Promise.all(paths.map(async (path) => `${path} ${(await fetch(`/of?path=${path}`)).status}`))
        }
        const inside = ['a.txt', 'sub/b.html', 'sub%2F..%2Fa.txt', '%2Fa.txt', 'link-inside']
        const hidden = ['.env', 'sub%2F..%2F.env', '.hidden%2Fa.txt', 'link-hidden', '.link', '..a.txt']
        const outside = [
          '..%2Foutside.txt',
          '..',
          '%2e%2e%2Foutside.txt',
          'sub%2F..%2F..%2Foutside.txt',
          'link-outside',
          'link-beside',
          '..%2Finside-beside%2Fa.txt',
          'folder-outside%2Foutside.txt',
          encodeURIComponent(at('outside.txt')),
          '..%2Finside%2F..%2Foutside.txt',
          '..%2Fto-inside%2Fa.txt',
          '..%5Coutside.txt',
        ]
        // A root with a slash at its end, and roots that are links; the last begins the name of its target.
        for (const root of [at('inside'), `${at('inside')}/`, at('link-to-inside'), at('in')]) {
          expect(await statuses(root, ...inside)).to.deep.equal(inside.map((path) => `${path} 200`))
          expect(await statuses(root, ...hidden)).to.deep.equal(
            hidden.map((path) => `${path} ${dotfiles === true ? 200 : 404}`),
          )
          expect(await statuses(root, ...outside)).to.deep.equal(outside.map((path) => `${path} 404`))
        }
      })

    it('refuses a relative path without root, and wrong options', async () => {
      const wrong: readonly SendFileOptions[] = [
        { root: undefined as never },
        { root: '' },
        { rooot: '/' } as never,
        { maxAge: 'soon' },
        { maxAge: -1 },
        { type: 'unknown' },
        ...['dotfiles', 'inline', 'immutable'].map((name) => ({ [name]: 'false' })),
        ...['filename', 'type', 'cacheControl', 'maxAge'].map((name) => ({ [name]: true as never })),
      ]
      const relative = await serve()
      expect((await relative.fetch('/of?path=package.json')).status).to.equal(500)
      const absolute = `/of?path=${encodeURIComponent(at('a.txt'))}`
      expect((await relative.fetch(absolute)).status).to.equal(200)
      for (const options of wrong) {
        const { fetch } = await serve(options)
        expect((await fetch(absolute)).status, inspect(options)).to.equal(500)
      }
    })

    it('names the download and its type', async () => {
      const names: readonly (readonly [SendFileOptions, string, string])[] = [
        [{ filename: 'a b.csv' }, 'attachment; filename="a b.csv"', 'text/csv; charset=utf-8'],
        [
          { filename: 'Preis 5 €.pdf' },
          `attachment; filename="Preis 5 ?.pdf"; filename*=UTF-8''Preis%205%20%E2%82%AC.pdf`,
          'application/pdf',
        ],
        [{ filename: 'a"\r\nX-Evil: 1.txt' }, '', 'text/plain; charset=utf-8'],
        [{ filename: '../../etc/passwd' }, 'attachment; filename="passwd"', 'text/plain; charset=utf-8'],
        [
          { filename: 'a.png', inline: true, type: 'html' },
          'inline; filename="a.png"',
          'text/html; charset=utf-8',
        ],
      ]
      for (const [options, disposition, type] of names) {
        const response = await (await serve(options)).fetch('/')
        if (disposition !== '') expect(response.headers.get('content-disposition')).to.equal(disposition)
        expect(response.headers.get('content-type')).to.equal(
          options.filename === '../../etc/passwd' ? 'application/octet-stream' : type,
        )
        expect(response.headers.has('x-evil')).to.equal(false)
      }
    })

    it('names the download also by half a surrogate pair, which cannot be encoded', async () => {
      const { fetch } = await serve({ filename: 'a\ud800\r\nX-Evil: 1.txt' })
      const response = await fetch('/')
      expect([response.status, response.headers.get('x-evil')]).to.deep.equal([200, null])
      expect(response.headers.get('content-disposition')).to.contain("UTF-8''a%EF%BF%BD%0D%0AX-Evil")
    })

    it('fits a declared media type, also as a part', async () => {
      const declared = defineRoute({ response: { 200: { type: 'image/png' } } }, (ctx) =>
        sendFile(ctx, at('inside/noext')),
      )
      const app = createApp({ logger: false }).use(
        createRouter().get('/', declared.definition, declared.handler as never),
      )
      const { fetch } = await open(app)
      for (const headers of [{}, { Range: 'bytes=0-1' }])
        expect((await fetch('/', { headers })).headers.get('content-type')).to.equal('image/png')
    })

    it('passes Koa middleware unchanged', async () => {
      const app = createApp({ logger: false })
        .use(fromKoa((_ctx, next) => next()))
        .use(createRouter().get('/', (ctx) => sendFile(ctx, at('a.txt'))))
      const { fetch } = await open(app)
      const etag = (await fetch('/')).headers.get('etag')!
      const part = await fetch('/', { headers: { Range: 'bytes=1-2' } })
      expect([
        part.status,
        await part.text(),
        ...headersOf(part, 'content-length', 'content-range', 'content-type'),
      ]).to.deep.equal([206, 'bc', '2', 'bytes 1-2/26', 'text/plain; charset=utf-8'])
      const cached = await fetch('/', { headers: { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' } })
      expect(cached.status).to.equal(304)
      const head = await fetch('/', { method: 'HEAD' })
      expect(headersOf(head, 'content-length')).to.deep.equal(['26'])
    })

    it('sends other statuses and methods without conditions and ranges', async () => {
      const app = createApp({ logger: false }).use(
        createRouter()
          .get('/', (ctx) => {
            ctx.status = 404
            return sendFile(ctx, at('a.txt'))
          })
          .post('/', (ctx) => sendFile(ctx, at('a.txt'))),
      )
      const { fetch } = await open(app)
      const headers = { Range: 'bytes=0-1', 'If-None-Match': '*' }
      const page = await fetch('/', { headers })
      expect([page.status, await page.text()]).to.deep.equal([404, TEXT])
      const post = await fetch('/', { method: 'POST', headers })
      expect([post.status, await post.text()]).to.deep.equal([200, TEXT])
      for (const response of [page, post]) {
        const others = headersOf(response, 'accept-ranges', 'content-range', 'last-modified', 'cache-control')
        expect([response.headers.has('etag'), ...others]).to.deep.equal([true, null, null, DATE, 'no-cache'])
      }
    })

    it('sends bytes and other sources by the same rules', async () => {
      const sources = {
        buffer: Buffer.from(TEXT),
        bytes: new TextEncoder().encode(TEXT),
        node: source((text) => Readable.from([text.slice(0, 1), text.slice(1)])),
        web: source((text) => new Blob([text]).stream()),
        iterable: source(async function* (text) {
          yield Buffer.from(text)
        }),
        buffered: source((text) => Promise.resolve(Buffer.from(text))),
      }
      const app = createApp({ logger: false }).use(
        createRouter().get('/:kind', (ctx) =>
          sendFile(ctx, sources[(ctx.params as { kind: keyof typeof sources }).kind] as never, {
            type: 'txt',
          }),
        ),
      )
      const { fetch } = await open(app)
      for (const kind of Object.keys(sources)) {
        expect(await (await fetch(`/${kind}`)).text(), kind).to.equal(TEXT)
        const part = await fetch(`/${kind}`, { headers: { Range: 'bytes=-2' } })
        expect([part.status, await part.text()], kind).to.deep.equal([206, 'yz'])
      }
      const cached = await fetch('/node', {
        headers: { 'If-None-Match': '"v1"', 'Cache-Control': 'max-age=0' },
      })
      expect(cached.status).to.equal(304)
    })

    it('leaves no descriptor open', async function () {
      if (process.platform !== 'linux') this.skip()
      // Node closes a forgotten file when it collects garbage, and warns.
      const warnings: string[] = []
      const note = ({ message }: Error): void => void warnings.push(message)
      process.on('warning', note)
      const big = await serve({}, 'big')
      const { fetch } = await serve({ root: folder })
      const unreturned = await open(
        createApp({ logger: false }).use(
          createRouter().get('/', async (ctx) => {
            await sendFile(ctx, at('big'))
            return 'other'
          }),
        ),
      )
      for (let round = 0; round < 3; round++) {
        await (await fetch('/of?path=a.txt')).text()
        await fetch('/of?path=a.txt', { method: 'HEAD' })
        await (await fetch('/of?path=a.txt', { headers: { Range: 'bytes=99-' } })).text()
        await fetch('/of?path=a.txt', { headers: { 'If-None-Match': '*', 'Cache-Control': 'max-age=0' } })
        await (await fetch('/of?path=inside')).text()
        await (await unreturned.fetch('/')).text()
        const socket = connect(Number(new URL(big.url).port), '127.0.0.1')
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        await once(socket, 'readable')
        socket.destroy()
      }
      let remaining = await openFiles(folder)
      for (let turn = 0; turn < 200 && remaining.length > 0; turn++) {
        await nextTurn()
        remaining = await openFiles(folder)
      }
      process.off('warning', note)
      expect([...remaining, ...warnings]).to.deep.equal([])
    })
  })

  it('works with inject', async () => {
    const app = createApp({ logger: false }).use(createRouter().get('/', (ctx) => sendFile(ctx, at('big'))))
    const response = await app.inject('/')
    expect(response.rawPayload.equals(await readFile(at('big')))).to.equal(true)
    await app.close()
  })
})

function source(read: (text: string) => unknown) {
  return {
    size: TEXT.length,
    etag: '"v1"',
    lastModified: CHANGED,
    open: ({ start, end }: { start: number; end: number }) => read(TEXT.slice(start, end + 1)),
  }
}

/** The files of a folder that this process has open. */
async function openFiles(folder: string): Promise<string[]> {
  const { readlink } = await import('node:fs/promises')
  const names = await readdir('/proc/self/fd')
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith(folder))
}
