import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, NotFound, reply, type Handler } from 'mortar'
import { array, date, number, object, string } from 'yup'
import { z } from 'zod'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'
import { rawRequest } from '../support/raw-request.ts'

const one = (handler: Handler) => createApp().use(createRouter().get('/', handler as never))

describe('A handler’s value', () => {
  throughBothAdapters((open) => {
    const answer = async (handler: Handler): Promise<Response> => (await open(one(handler))).fetch('/')

    it('has only the status of a final response', async () => {
      const wrong = [100, 101, 199, 600, 200.5, Number.NaN]
      for (const status of [...wrong, 200, 599]) {
        const response = await answer((ctx) => {
          ctx.status = status
          return 'sent'
        })
        expect(response.status, String(status)).to.equal(wrong.includes(status) ? 500 : status)
      }
    })

    it('does not abort ctx.signal when it is sent as a whole, nor later when the application closes', async () => {
      const seen: AbortSignal[] = []
      const closed = deferred()
      const app = one(({ signal, koa }) => {
        seen.push(signal)
        koa.res.once('close', () => closed.resolve())
        return 'sent'
      })
      const { fetch } = await open(app)
      expect(await (await fetch('/')).text()).to.equal('sent')
      await closed.promise
      await nextTurn()
      await app.close()
      expect(seen.map(({ aborted }) => aborted)).to.deep.equal([false])
    })

    const json: readonly (readonly [unknown, string])[] = [
      [{ a: 1 }, '{"a":1}'],
      [[1, 2], '[1,2]'],
      [5, '5'],
      [0, '0'],
      [false, 'false'],
      [{}, '{}'],
      [Object.assign(Object.create(null), { n: 1 }), '{"n":1}'],
      [
        new (class Point {
          x = 1
        })(),
        '{"x":1}',
      ],
      [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ]
    for (const [value, text] of json)
      it(`becomes JSON: ${text}`, async () => {
        const response = await answer(() => value)
        expect(response.status).to.equal(200)
        expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8')
        expect(await response.text()).to.equal(text)
      })

    it('is plain text when it is a string, even if it looks like HTML', async () => {
      const response = await answer(() => '<script>alert(1)</script>')
      expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8')
      expect(response.headers.get('content-length')).to.equal('25')
    })

    it('keeps a type that the handler set', async () => {
      const response = await answer((ctx) => {
        ctx.type = 'html'
        return '<b>é</b>'
      })
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8')
      expect(await response.text()).to.equal('<b>é</b>')
    })

    it('becomes a 204 without a body for undefined and null', async () => {
      for (const value of [undefined, null]) {
        const response = await answer(() => value)
        expect(response.status).to.equal(204)
        expect(response.headers.get('content-type')).to.equal(null)
        expect(await response.text()).to.equal('')
      }
    })

    it('keeps a status that the handler set, with and without a body', async () => {
      const { fetch } = await open(
        createApp().use(
          createRouter()
            .get('/created', (ctx) => {
              ctx.status = 201
              return { id: 1 }
            })
            .get('/empty', (ctx) => void (ctx.status = 202))
            .get('/none', (ctx) => {
              ctx.status = 204
              return { ignored: true }
            }),
        ),
      )
      expect((await fetch('/created')).status).to.equal(201)
      const empty = await fetch('/empty')
      expect([empty.status, await empty.text()]).to.deep.equal([202, ''])
      const none = await fetch('/none')
      expect([none.status, await none.text()]).to.deep.equal([204, ''])
    })

    it('is sent unchanged when it is bytes, a stream, an iterable, a blob or a web response', async () => {
      const cases: readonly (readonly [() => unknown, string, string])[] = [
        [() => Buffer.from('bytes'), 'application/octet-stream', 'bytes'],
        [() => new Uint8Array([104, 105]), 'application/octet-stream', 'hi'],
        [() => Readable.from(['a', 'b']), 'application/octet-stream', 'ab'],
        [() => pieces(), 'application/octet-stream', 'one two'],
        [() => bytePieces(), 'application/octet-stream', 'hi!'],
        [() => new Blob(['blob'], { type: 'text/csv' }), 'text/csv', 'blob'],
        [() => new Blob(['stream']).stream(), 'application/octet-stream', 'stream'],
        [() => new Response('web', { headers: { 'content-type': 'text/x-web' } }), 'text/x-web', 'web'],
      ]
      for (const [make, type, text] of cases) {
        const response = await answer(make)
        expect(response.headers.get('content-type')).to.equal(type)
        expect(await response.text()).to.equal(text)
      }
    })

    it('keeps status, headers and cookies of a web response', async () => {
      const response = await answer(() => {
        const headers = new Headers({ 'x-web': 'yes' })
        headers.append('set-cookie', 'a=1')
        headers.append('set-cookie', 'b=2')
        return new Response(null, { status: 203, headers })
      })
      expect(response.status).to.equal(203)
      expect(response.headers.get('x-web')).to.equal('yes')
      expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2'])
    })

    it('sends the headers of GET and no body for HEAD', async () => {
      const { fetch } = await open(
        createApp().use(
          createRouter()
            .get('/', () => ({ a: 1 }))
            .get('/stream', () => Readable.from(['x'])),
        ),
      )
      const head = await fetch('/', { method: 'HEAD' })
      expect(head.headers.get('content-length')).to.equal('7')
      expect(await head.text()).to.equal('')
      expect((await fetch('/stream', { method: 'HEAD' })).status).to.equal(200)
    })

    it('redirects', async () => {
      const response = await answer((ctx) => ctx.redirect('/ünïcode?a=b%20c'))
      expect(response.status).to.equal(302)
      expect(response.headers.get('location')).to.equal('/%C3%BCn%C3%AFcode?a=b%20c')
    })

    it('causes a 500 when it has no representation', async () => {
      const circular: Record<string, unknown> = {}
      circular['self'] = circular
      for (const value of [1n, Symbol('x'), () => 1, circular, { deep: 1n }]) {
        const response = await answer(() => value)
        expect(response.status).to.equal(500)
        expect(response.headers.get('content-type')).to.equal('application/problem+json')
      }
    })

    it('reads a header that was sent several times as one text', async () => {
      const { url } = await open(one((ctx) => [ctx.get('Set-Cookie'), ctx.get('X-One')].join('; ')))
      const headers = 'Set-Cookie: a=1\r\nX-One: c\r\nset-cookie: b=2\r\nX-One: d\r\nConnection: close'
      const { text } = await rawRequest(
        Number(new URL(url).port),
        `GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`,
      )
      expect(text).to.include('\r\n\r\na=1, b=2; c, d')
    })

    it('sets headers and cookies', async () => {
      const response = await answer((ctx) => {
        ctx.set('X-One', '1')
        ctx.append('X-Many', 'a')
        ctx.append('X-Many', 'b')
        ctx.cookies.set('c', 'v', { httpOnly: true })
        return ctx.get('HOST') === undefined ? 'no host' : 'ok'
      })
      expect(response.headers.get('x-one')).to.equal('1')
      expect(response.headers.get('x-many')).to.equal('a, b')
      expect(response.headers.getSetCookie()[0]).to.contain('c=v')
      expect(await response.text()).to.equal('ok')
    })
  })

  describe('with a response schema', () => {
    const user = object({
      id: number().required(),
      born: date(),
      tags: array(object({ name: string().required() })),
    })
    throughBothAdapters((open) => {
      const serve = (given: unknown, environment: 'test' | 'production' = 'test'): Promise<ServedApp> => {
        // Some values do not fit, which the types of a handler would refuse.
        const value = given as never
        return open(
          createApp({ environment, logger: false, signals: false }).use(
            createRouter()
              .get('/', { response: { 200: user } }, () => value)
              .get('/text', { response: { 200: string().required() } }, () => value)
              .get('/zod', { response: { 200: z.object({ id: z.number() }) } }, () => value)
              .get('/other', { response: { 200: user } }, (ctx) => {
                // @ts-expect-error a success status that the route does not declare
                ctx.status = 202
                return value
              }),
          ),
        )
      }

      it('loses undeclared keys at every depth', async () => {
        const value = { id: 1, hash: 'x', born: new Date(0), tags: [{ name: 'a', hidden: 1 }] }
        const { fetch } = await serve(value)
        expect(await (await fetch('/')).json()).to.deep.equal({
          id: 1,
          born: '1970-01-01T00:00:00.000Z',
          tags: [{ name: 'a' }],
        })
        expect(await (await fetch('/zod')).json()).to.deep.equal({ id: 1 })
      })

      it('is checked only by the schema of the status that is sent', async () => {
        const { fetch } = await serve({ id: 'any', extra: 1 })
        expect(await (await fetch('/other')).json()).to.deep.equal({ id: 'any', extra: 1 })
      })

      it('causes a 500 with the issues when it does not match', async () => {
        const { fetch } = await serve({ id: 'one' })
        const response = await fetch('/')
        expect(response.status).to.equal(500)
        const problem = (await response.json()) as { code: string; errors: { path: string }[] }
        expect(problem.code).to.equal('response_mismatch')
        expect(problem.errors.map(({ path }) => path)).to.deep.equal(['id'])
      })

      it('is not sent in production when it does not match, and the issues are not sent either', async () => {
        const { fetch } = await serve({ id: 'one', hash: 'secret' }, 'production')
        const response = await fetch('/')
        expect(response.status).to.equal(500)
        const problem = (await response.json()) as Record<string, unknown>
        // Random letters, which may be those of a name.
        delete problem['instance']
        expect(JSON.stringify(problem)).to.not.match(/id|hash|secret|one"/)
      })

      it('is chosen by reply, which sets the status', async () => {
        const gone = object({ id: number().required() })
        const row: { id: number; hash: string } = { id: 0, hash: 'x' }
        const response = { 200: user, 201: gone, 204: object(), 410: gone }
        const router = createRouter()
          .get('/201', { response }, (ctx) => reply(ctx, 201, { ...row, id: 1 }))
          .get('/410', { response }, async (ctx) => reply(ctx, 410, { ...row, id: 2 }))
          .get('/204', { response }, (ctx) => reply(ctx, 204))
        const { fetch } = await open(
          createApp({ environment: 'test', logger: false, signals: false }).use(router),
        )
        const sent = async (path: string): Promise<unknown[]> => {
          const received = await fetch(path)
          return [received.status, await received.text()]
        }
        expect(await sent('/201')).to.deep.equal([201, '{"id":1}'])
        expect(await sent('/410')).to.deep.equal([410, '{"id":2}'])
        expect(await sent('/204')).to.deep.equal([204, ''])
      })

      it('stays plain text when it is a string', async () => {
        const { fetch } = await serve('a "quoted" text')
        const response = await fetch('/text')
        expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8')
        expect(await response.text()).to.equal('a "quoted" text')
      })
    })
  })
})

describe('A problem document', () => {
  throughBothAdapters((open) => {
    const failing = (environment: 'development' | 'test' | 'production') =>
      createApp({ environment, logger: false, signals: false }).use(
        createRouter()
          .get('/missing', (ctx) => {
            ctx.set('X-Kept', 'yes')
            ctx.type = 'html'
            for (const name of [
              'Content-Encoding',
              'Content-Disposition',
              'Content-Range',
              'ETag',
              'Last-Modified',
            ])
              ctx.set(name, 'of the body')
            throw new NotFound('No note 7.', { code: 'note_missing', extensions: { note: 7, status: 1 } })
          })
          .get('/boom', () => {
            throw new Error('the connection string is p4ssw0rd')
          })
          .get('/status', () => {
            throw Object.assign(new Error('driver'), { status: 404, statusCode: 404, expose: true })
          })
          .get('/text', () => {
            // oxlint-disable-next-line typescript/only-throw-error -- an application may do so
            throw 'text'
          }),
      )

    it('has the members of RFC 9457, a code and the request id', async () => {
      const { fetch } = await open(failing('test'))
      const response = await fetch('/missing', { headers: { 'x-request-id': 'req-1' } })
      expect(response.status).to.equal(404)
      expect(response.headers.get('content-type')).to.equal('application/problem+json')
      expect(response.headers.get('x-request-id')).to.equal('req-1')
      expect(await response.json()).to.deep.equal({
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        detail: 'No note 7.',
        code: 'note_missing',
        instance: 'req-1',
        note: 7,
      })
    })

    it('keeps headers that were set, except those of the body that is not sent', async () => {
      const { fetch } = await open(failing('test'))
      const { headers } = await fetch('/missing')
      expect(headers.get('x-kept')).to.equal('yes')
      expect(headers.get('content-type')).to.equal('application/problem+json')
      for (const name of [
        'content-encoding',
        'content-disposition',
        'content-range',
        'etag',
        'last-modified',
      ])
        expect(headers.get(name), name).to.equal(null)
    })

    it('does not repeat a hostile request id', async () => {
      const { fetch } = await open(failing('test'))
      const idFor = async (id: string): Promise<string> => {
        const response = await fetch('/missing', { headers: { 'x-request-id': id } })
        return ((await response.json()) as { instance: string }).instance
      }
      for (const id of ['a b', 'x'.repeat(129), '<script>', 'a"b', 'a/b'])
        expect(await idFor(id))
          .to.match(/^[\w-]+$/)
          .and.not.equal(id)
      for (const id of ['x'.repeat(128), 'a.b:c-d_e']) expect(await idFor(id)).to.equal(id)
    })

    it('shows an unexpected message outside production only', async () => {
      const shown = await (await open(failing('development'))).fetch('/boom')
      expect(((await shown.json()) as { detail: string }).detail).to.contain('p4ssw0rd')
      const hidden = await (await open(failing('production'))).fetch('/boom')
      expect(hidden.status).to.equal(500)
      expect(await hidden.text()).to.not.contain('p4ssw0rd')
    })

    it('has the status only of the framework’s own errors', async () => {
      const { fetch } = await open(failing('test'))
      expect((await fetch('/status')).status).to.equal(500)
      expect((await fetch('/text')).status).to.equal(500)
    })

    it('has no body for HEAD', async () => {
      const { fetch } = await open(failing('test'))
      const response = await fetch('/missing', { method: 'HEAD' })
      expect([response.status, await response.text()]).to.deep.equal([404, ''])
    })
  })
})

async function* bytePieces(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([104, 105])
  yield Buffer.from('!')
}

async function* pieces(): AsyncGenerator<string> {
  yield 'one '
  yield 'two'
}
