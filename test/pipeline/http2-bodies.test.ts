import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { type App, createApp, createRouter, file, sse, type RequestEvents } from 'mortar'
import { object, string } from 'yup'
import { ignore } from '../../src/support/ignore.ts'
import { loggerTo } from '../app/recorder.ts'

/** Serves an application over HTTP/2, and connects a client for one use. */
async function overHttp2(app: App, use: (client: ClientHttp2Session, server: Http2Server) => Promise<void>) {
  const server = createServer(app.koa.callback())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  try {
    await use(client, server)
  } finally {
    client.destroy()
    server.close()
    await app.close()
  }
}

describe('A body of an HTTP/2 request', () => {
  it('is read without Content-Length and Transfer-Encoding', async () => {
    const routes = createRouter()
      .post('/json', { body: object({ a: string().required() }) }, (ctx) => ctx.body)
      .post('/form', { body: object({ f: file().required() }) }, (ctx) => ctx.body.f.size)
      .post('/none', (ctx) => ({ none: ctx.body === undefined }))
    const form = '--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\nfile\r\n--B--\r\n'
    await overHttp2(createApp({ logger: false }).use(routes), async (client) => {
      const post = async (path: string, type: string, body?: string): Promise<string> => {
        const headers = { ':path': path, ':method': 'POST', 'content-type': type }
        const request = client.request(headers, { endStream: body === undefined })
        if (body !== undefined) request.end(body)
        let text = ''
        for await (const chunk of request) text += String(chunk)
        return text
      }
      expect(await post('/json', 'application/json', '{"a":"x"}')).to.equal('{"a":"x"}')
      expect(await post('/json', 'application/json', '{')).to.include('malformed_body')
      expect(await post('/form', 'multipart/form-data; boundary=B', form)).to.equal('4')
      expect(await post('/none', 'application/json')).to.equal('{"none":true}')
    })
  })
})

describe('An HTTP/2 stream that its client cancels', () => {
  it('in its body fails as the request of a client that has left, for each kind of body', async () => {
    const types = ['application/json', 'application/x-www-form-urlencoded', 'text/plain']
    const app = createApp({ logger: false }).use(
      createRouter().post('/', { consumes: types }, (ctx) => ctx.body),
    )
    const errors: string[] = []
    app.koa.on('error', (error: Error) => errors.push(error.message))
    await overHttp2(app, async (client, server) => {
      for (const [count, type] of types.entries()) {
        const arrived = once(server, 'request')
        const headers = { ':path': '/', ':method': 'POST', 'content-type': type }
        const request = client.request(headers, { endStream: false }).on('error', ignore)
        request.write('{"a":')
        const [req] = (await arrived) as [Readable]
        while (req.readableFlowing !== true) await wait(5)
        request.destroy()
        while (errors.length <= count) await wait(5)
      }
      expect(errors).to.deep.equal(types.map(() => 'The client disconnected.'))
    })
  })

  it('aborts ctx.signal, ends its events and counts as aborted', async () => {
    const ended: string[] = []
    const app = createApp({ logger: false }).use(
      createRouter()
        .get('/waits', async ({ signal }) => {
          await once(signal, 'abort')
          ended.push('waits')
        })
        .get('/events', (ctx) =>
          sse(ctx, async function* ({ signal }) {
            try {
              yield 'a'
              await once(signal, 'abort')
            } finally {
              ended.push('events')
            }
          }),
        ),
    )
    const completed: unknown[] = []
    app.events.typed<RequestEvents>().on('request.completed', ({ status, aborted }) => {
      completed.push([status, aborted])
    })
    await overHttp2(app, async (client, server) => {
      for (const [path, count] of [
        ['/events', 1],
        ['/waits', 2],
      ] as const) {
        const arrived = once(server, 'request')
        const request = client.request({ ':path': path }).on('error', ignore)
        await (path === '/events' ? once(request, 'data') : arrived)
        request.close(constants.NGHTTP2_CANCEL)
        while (ended.length < count || completed.length < count) await wait(5)
      }
      expect(completed).to.deep.equal([
        [200, true],
        [499, true],
      ])
    })
  })
})

describe('An HTTP/2 stream that its client resets', () => {
  for (const reset of ['NO_ERROR', 'CANCEL', 'INTERNAL_ERROR', 'REFUSED_STREAM', 'PROTOCOL_ERROR'] as const)
    it(`with ${reset} makes no line of an error`, async () => {
      const errors: unknown[] = []
      const logger = loggerTo((level, line) => level === 'error' && errors.push(line))
      const app = createApp({ logger }).use(
        createRouter().get('/', async ({ signal }) => void (await once(signal, 'abort'))),
      )
      const completed = new Promise<unknown>((resolve) => {
        app.events.typed<RequestEvents>().on('request.completed', ({ status }) => resolve(status))
      })
      await overHttp2(app, async (client, server) => {
        const arrived = once(server, 'stream') as Promise<[ServerHttp2Stream]>
        const request = client.request({ ':path': '/' }).on('error', ignore)
        const [stream] = await arrived
        const closed = once(stream, 'close').catch(ignore)
        request.close(constants[`NGHTTP2_${reset}`])
        await closed
        expect([await completed, errors]).to.deep.equal([499, []])
      })
    })
})

describe('An HTTP/2 response with a header of a connection', () => {
  const headers = {
    'Transfer-Encoding': 'chunked',
    Connection: 'keep-alive',
    'Keep-Alive': 'timeout=5',
    Upgrade: 'h2c',
    TE: 'gzip',
    'Proxy-Connection': 'close',
    'HTTP2-Settings': 'x',
  }
  const values: Record<string, () => unknown> = {
    json: () => ({ a: 1 }),
    text: () => 'text',
    nothing: () => undefined,
    bytes: () => Buffer.from('bytes'),
    stream: () => Readable.from(['stream'], { objectMode: false }),
    error: () => {
      throw new Error('refused')
    },
  }

  for (const [name, value] of Object.entries(headers))
    it(`is sent without ${name}, whatever is sent`, async () => {
      const routes = createRouter().get('/:kind', (ctx) => {
        ctx.set(name, value)
        return values[ctx.params.kind]!()
      })
      await overHttp2(createApp({ logger: false }).use(routes), async (client) => {
        for (const kind of Object.keys(values))
          for (const method of ['GET', 'HEAD']) {
            const request = client.request({ ':path': `/${kind}`, ':method': method }).resume()
            request.setTimeout(5000, () => request.close())
            const [sent] = (await once(request, 'response')) as [Record<string, unknown>]
            const status = kind === 'nothing' ? 204 : kind === 'error' ? 500 : 200
            expect([kind, method, sent[':status']]).to.deep.equal([kind, method, status])
            expect(sent).not.to.have.property(name.toLowerCase())
          }
      })
    })
})
