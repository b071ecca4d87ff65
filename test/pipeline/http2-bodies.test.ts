import { once } from 'node:events'
import { connect, constants, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, file, sse, type RequestEvents } from 'mortar'
import { object, string } from 'yup'
import { ignore } from '../../src/support/ignore.ts'

describe('A body of an HTTP/2 request', () => {
  it('is read without Content-Length and Transfer-Encoding', async () => {
    const routes = createRouter()
      .post('/json', { body: object({ a: string().required() }) }, (ctx) => ctx.body)
      .post('/form', { body: object({ f: file().required() }) }, (ctx) => ctx.body.f.size)
      .post('/none', (ctx) => ({ none: ctx.body === undefined }))
    const server = createServer(createApp({ logger: false }).use(routes).koa.callback())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const post = async (path: string, type: string, body?: string): Promise<string> => {
      const headers = { ':path': path, ':method': 'POST', 'content-type': type }
      const request = client.request(headers, { endStream: body === undefined })
      if (body !== undefined) request.end(body)
      let text = ''
      for await (const chunk of request) text += String(chunk)
      return text
    }
    const form = '--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\nfile\r\n--B--\r\n'
    try {
      expect(await post('/json', 'application/json', '{"a":"x"}')).to.equal('{"a":"x"}')
      expect(await post('/json', 'application/json', '{')).to.include('malformed_body')
      expect(await post('/form', 'multipart/form-data; boundary=B', form)).to.equal('4')
      expect(await post('/none', 'application/json')).to.equal('{"none":true}')
    } finally {
      client.close()
      server.close()
    }
  })
})

describe('An HTTP/2 stream that its client cancels', () => {
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
    const server = createServer(app.koa.callback())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    try {
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
    } finally {
      client.close()
      server.close()
      await app.close()
    }
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
      const server = createServer(createApp({ logger: false }).use(routes).koa.callback())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      try {
        for (const kind of Object.keys(values))
          for (const method of ['GET', 'HEAD']) {
            const request = client.request({ ':path': `/${kind}`, ':method': method }).resume()
            request.setTimeout(5000, () => request.close())
            const [sent] = (await once(request, 'response')) as [Record<string, unknown>]
            const status = kind === 'nothing' ? 204 : kind === 'error' ? 500 : 200
            expect([kind, method, sent[':status']]).to.deep.equal([kind, method, status])
            expect(sent).not.to.have.property(name.toLowerCase())
          }
      } finally {
        client.destroy()
        server.close()
      }
    })
})
