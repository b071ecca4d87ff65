import { expect } from 'chai'
import { createApp, createRouter, file, type App } from 'mortar'
import { createClient } from 'mortar/testing'
import { object } from 'yup'

/** Echoes the request, and sets the requested cookies. */
const echo = () =>
  createRouter()
    .post('/echo', (ctx) => ({
      body: ctx.body,
      type: ctx.get('content-type') ?? null,
      x: ctx.get('x-own') ?? null,
    }))
    .post('/picture', { body: object({ picture: file().required() }) }, (ctx) => ({
      name: ctx.body.picture.originalFilename,
      size: ctx.body.picture.size,
    }))
    .get('/seen', (ctx) => ({
      cookie: ctx.get('cookie') ?? '',
      host: ctx.get('host'),
      query: ctx.query,
      token: ctx.token,
      path: ctx.path,
    }))
    .get('/deep/seen', (ctx) => ({ cookie: ctx.get('cookie') ?? '' }))
    .post('/plant', (ctx) => {
      for (const line of ctx.body as string[]) ctx.append('Set-Cookie', line)
    })

describe('The test client', () => {
  let app: App

  beforeEach(() => {
    app = createApp({ environment: 'test' }).use(echo())
  })

  afterEach(() => app.close())

  const planted = async (lines: readonly string[], origin = 'http://localhost') => {
    const client = createClient(app, { origin })
    await client.post('/plant', lines)
    return client
  }

  it('sends objects as JSON, text as text and bytes without a type, unless a header says otherwise', async () => {
    const client = createClient(app)
    const sent = async (body: unknown, headers: Record<string, string> = {}) =>
      (await client.post('/echo', body, { headers })).body
    expect(await sent({ a: [1] }))
      .to.include({ type: 'application/json' })
      .and.deep.include({ body: { a: [1] } })
    expect(await sent('hello')).to.include({ body: 'hello', type: 'text/plain; charset=utf-8' })
    expect((await sent(Buffer.from('x'))).type).to.equal(null)
    expect(await sent('{"a":1}', { 'Content-Type': 'application/json' })).to.deep.include({ body: { a: 1 } })
    expect(await sent(undefined)).to.include({ type: null })
    expect(await sent(null)).to.include({ type: 'application/json', body: null })
  })

  it('sends FormData with its files, and URLSearchParams, as forms', async () => {
    const client = createClient(app)
    const form = new FormData()
    form.set('picture', new Blob(['1234'], { type: 'image/png' }), 'dot.png')
    expect((await client.post('/picture', form)).body).to.deep.equal({ name: 'dot.png', size: 4 })
    const { body } = await client.post('/echo', new URLSearchParams({ a: 'b' }))
    expect(body.body).to.deep.equal({ a: 'b' })
    expect(body.type).to.contain('application/x-www-form-urlencoded')
  })

  it('returns status, headers, text and parsed JSON', async () => {
    const client = createClient(app)
    const found = await client.get('/seen')
    expect(found.status).to.equal(200)
    expect(found.headers['content-type']).to.contain('application/json')
    expect(JSON.parse(found.text)).to.deep.equal(found.body)
    const none = await client.post('/plant', [])
    expect(none).to.include({ status: 204, text: '', body: undefined })
  })

  it('sends a query from an object, with lists, or from the path', async () => {
    const client = createClient(app)
    const { body } = await client.get('/seen', { query: { tag: ['a', 'b c'], q: 'ü&=' } })
    expect(body.query).to.deep.equal({ tag: ['a', 'b c'], q: 'ü&=' })
    expect((await client.get('/seen?tag=a&tag=%62')).body.query).to.deep.equal({ tag: ['a', 'b'] })
  })

  it('sends its own headers with every request; headers of a request override them', async () => {
    const client = createClient(app, { headers: { 'x-own': 'always' } })
    expect((await client.post('/echo', {})).body.x).to.equal('always')
    expect((await client.post('/echo', {}, { headers: { 'x-own': 'once' } })).body.x).to.equal('once')
  })

  it('shares its cookies with the client from withToken(), but not its token', async () => {
    const client = await planted(['a=1; Path=/'])
    const signedIn = client.withToken('secret')
    expect((await signedIn.get('/seen')).body).to.include({ cookie: 'a=1', token: 'secret' })
    await signedIn.post('/plant', ['b=2; Path=/'])
    expect((await client.get('/seen')).body).to.include({ cookie: 'a=1; b=2', token: null })
  })

  it('always sends requests to its own host, for any path', async () => {
    const client = createClient(app, { origin: 'https://notes.example.com:8443' })
    expect((await client.get('/seen')).body.host).to.equal('notes.example.com:8443')
    expect((await client.get('//seen')).body.detail).to.equal('There is nothing at //seen.')
    expect((await client.get('/%zz')).status).to.equal(400)
    expect((await client.get('seen')).status).to.equal(200)
  })

  describe('keeps cookies like a browser:', () => {
    it('sends them back, replaces them, and drops them when they are cleared', async () => {
      const client = await planted(['a=1; Path=/', 'b=2; Path=/; HttpOnly'])
      expect((await client.get('/seen')).body.cookie).to.equal('a=1; b=2')
      await client.post('/plant', ['a=3; Path=/', 'b=; Path=/; Max-Age=0'])
      expect((await client.get('/seen')).body.cookie).to.equal('a=3')
      expect(client.cookie('a')).to.equal('3')
      expect(client.cookie('b')).to.equal(undefined)
    })

    it('sends a cookie only under its path, and finds it under any path', async () => {
      const client = await planted(['narrow=1; Path=/deep'])
      expect((await client.get('/seen')).body.cookie).to.equal('')
      expect((await client.get('/deep/seen')).body.cookie).to.equal('narrow=1')
      expect(client.cookie('narrow')).to.equal('1')
    })

    it('keeps Secure cookies for https origins, and not for plain http of another host', async () => {
      const secure = await planted(['s=1; Path=/; Secure'], 'https://notes.example.com')
      expect((await secure.get('/seen')).body.cookie).to.equal('s=1')
      const plain = await planted(['s=1; Path=/; Secure'], 'http://notes.example.com')
      expect((await plain.get('/seen')).body.cookie).to.equal('')
    })

    it('accepts __Host- cookies only if they are Secure, for path / and without a domain', async () => {
      const right = ['__Host-a=1; Path=/; Secure']
      const wrong = [
        '__Host-b=1; Path=/',
        '__Host-c=1; Path=/deep; Secure',
        '__Host-d=1; Path=/; Secure; Domain=notes.example.com',
      ]
      const client = await planted([...right, ...wrong], 'https://notes.example.com')
      expect((await client.get('/seen')).body.cookie).to.equal('__Host-a=1')
    })

    it('accepts no cookie for another domain', async () => {
      const client = await planted(['a=1; Path=/; Domain=evil.example'], 'https://notes.example.com')
      expect((await client.get('/seen')).body.cookie).to.equal('')
    })

    it('lets a test set a cookie', async () => {
      const client = createClient(app)
      client.setCookie('stolen=1; Path=/')
      expect((await client.get('/seen')).body.cookie).to.equal('stolen=1')
      expect(createClient(app).cookie('stolen')).to.equal(undefined)
    })
  })
})
