import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createApp, createRouter, file } from 'mortar'
import { object, string } from 'yup'

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
