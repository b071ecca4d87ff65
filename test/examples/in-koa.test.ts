import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { App } from 'mortar'
import { createClient } from 'mortar/testing'

describe('the example of Mortar in a Koa application', () => {
  let app: App
  let server: Server
  let url: string

  before(async () => {
    const { AUTH_SECRET } = process.env
    process.env['AUTH_SECRET'] = 'Pq7vN2xLr9KdYt4WzB8mHc3FsJ6gTuEa'
    ;({ app } = await import('../../examples/in-koa/app.ts'))
    const { site } = await import('../../examples/in-koa/site.ts')
    if (AUTH_SECRET === undefined) delete process.env['AUTH_SECRET']
    else process.env['AUTH_SECRET'] = AUTH_SECRET
    await app.ready()
    server = createServer(site.callback())
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  after(async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
  })

  const call = async (method: string, path: string, token?: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) as never }
  }

  const signUp = async (email: string): Promise<string> => {
    const password = 'a heron waits in the reeds'
    const { json } = await call('POST', '/api/auth/signup', undefined, { name: 'Ada', email, password })
    return (json() as { accessToken: string }).accessToken
  }

  it('serves the pages of Koa and the routes of Mortar on one port', async () => {
    const page = await call('GET', '/')
    expect([page.status, page.headers.get('x-served-by')]).to.deep.equal([200, 'site'])
    expect(page.text).to.contain('<h1>Books</h1>')
    const status = await call('GET', '/api/status')
    expect([status.json(), status.headers.get('x-served-by')]).to.deep.equal([{ fine: true }, 'site'])
    expect((await call('GET', '/api/nowhere')).headers.get('content-type')).to.equal(
      'application/problem+json',
    )
    expect((await call('GET', '/nowhere')).text).to.equal('Not Found')
  })

  it('guards the adopted router and gives it the user and the database', async () => {
    expect((await call('GET', '/api/books')).status).to.equal(401)
    const [ada, bob] = [await signUp('ada@example.com'), await signUp('bob@example.com')]
    const made = await call('POST', '/api/books', ada, { title: 'Middlemarch' })
    expect([made.status, made.headers.get('location')]).to.deep.equal([201, '/books/1'])
    const found = await call('GET', '/api/books/1', ada)
    expect(found.json()).to.include({ id: 1, title: 'Middlemarch' })
    expect(found.headers.get('cache-control')).to.equal('private')
    expect((await call('GET', '/api/books', ada)).json()).to.have.length(1)
    expect((await call('GET', '/api/books', bob)).json()).to.deep.equal([])
    const other = await call('GET', '/api/books/1', bob)
    expect(other.status).to.equal(404)
    expect(other.text).to.contain('There is no book 1.')
    expect((await call('POST', '/api/books', ada, { title: 3 })).status).to.equal(400)
  })

  it('serves the adopted router without the site too', async () => {
    const client = createClient(app)
    expect((await client.get('/books')).status).to.equal(401)
    const wrong = await client.request('DELETE', '/books/1')
    expect([wrong.status, wrong.headers.allow]).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
    const { body } = await client.get('/openapi.json')
    expect(body.paths).to.include.keys('/books', '/books/{id}', '/status')
    expect(body.paths['/books/{id}'].get.tags).to.deep.equal(['books'])
    expect(body.paths['/books'].post.security).to.have.length(1)
  })
})
