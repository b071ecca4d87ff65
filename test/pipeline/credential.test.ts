import { expect } from 'chai'
import { createApp, createRouter, StartupError, type AppOptions } from 'mortar'
import { number, object } from 'yup'
import { compileCredential } from '../../src/context/credential.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { leastTime } from '../support/least-time.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

const tokenOf = (authorization: string): string | undefined =>
  credentialOf({ authorization, cookie: 'session=from-the-cookie' })?.token

const find = compileCredential({ sources: ['header', 'cookie', 'query'], cookies: ['session', 'other'] })

function credentialOf(headers: Record<string, string>) {
  return find({ url: '/', path: '/', rawHeaders: headers, rawQuery: {} })
}

describe('the credential of a request', () => {
  const forms: Record<string, string> = {
    'Bearer abc': 'abc',
    'bearer abc': 'abc',
    'BEARER   abc  ': 'abc',
    'Bearer a b': 'a b',
    'Bearer \tabc': '\tabc',
    'Bearer abc\t': 'abc\t',
    'Bearer \u00A0abc': '\u00A0abc',
    'Bearer ,': ',',
    Bearer: 'from-the-cookie',
    'Bearer   ': 'from-the-cookie',
    Bearerabc: 'from-the-cookie',
    ' Bearer abc': 'from-the-cookie',
    'Basic abc': 'from-the-cookie',
    'Basic Bearer abc': 'from-the-cookie',
  }
  for (const [authorization, token] of Object.entries(forms))
    it(`of ${JSON.stringify(authorization)} is ${JSON.stringify(token)}`, () => {
      expect(tokenOf(authorization)).to.equal(token)
    })

  it('does not exist with two values of one cookie, also if another cookie or the query has one', () => {
    const sent = (cookie: string) =>
      find({
        url: '/?access_token=q',
        path: '/',
        rawHeaders: { cookie },
        rawQuery: { access_token: 'q' },
      })
    expect(sent('session=a; session=b')).to.equal(null)
    expect(sent('session=a; other=c; session=b')).to.equal(null)
    expect(sent('session=a; other=c; other=d')).to.deep.equal({ token: 'a', source: 'cookie' })
    expect(sent('session=; other=c')).to.deep.equal({ token: 'c', source: 'cookie' })
    expect(sent('unrelated=1')).to.deep.equal({ token: 'q', source: 'query' })
    expect(sent('session=')).to.deep.equal({ token: 'q', source: 'query' })
  })

  it('is read in linear time', () => {
    const plain = `Bearer ${'x'.repeat(15_000)}`
    const spaced = `Bearer x${' '.repeat(15_000)}y`
    const timeOf = (authorization: string): number => leastTime(() => tokenOf(authorization), 200)
    expect(timeOf(spaced)).to.be.below(20 * timeOf(plain))
  })

  const cookies: Record<string, string | undefined> = {
    'session=a': 'a',
    ' session =a': 'a',
    '\tsession\t=\ta\t': 'a',
    'session="a"': 'a',
    'session="': '"',
    'session=a; session=a': 'a',
    'session=a; session="a"': 'a',
    'session=a=b': 'a=b',
    'x-session=a': undefined,
    'sessionx=a': undefined,
    'x=session': undefined,
    session: undefined,
    'Session=a': undefined,
    '\u00A0session=a': undefined,
    'session\u00A0=a': undefined,
    '\vsession=a': undefined,
    'session=': undefined,
    'session=a; session=b': undefined,
    'session=a; session=': undefined,
    'session=; session=a': undefined,
    'session=a; other=b': 'a',
    'other=b': 'b',
    'session=; other=b': 'b',
    'session=\u00A0a': '\u00A0a',
  }
  for (const [cookie, token] of Object.entries(cookies))
    it(`of the cookies ${JSON.stringify(cookie)} is ${token === undefined ? 'none' : JSON.stringify(token)}`, () => {
      const found = credentialOf({ cookie })
      expect(found).to.deep.equal(token === undefined ? null : { token, source: 'cookie' })
    })

  it('is the first parameter of the query, marked with its source, when there is no other credential', () => {
    const request = {
      url: '/?access_token=a&access_token=b',
      path: '/',
      rawHeaders: {},
      rawQuery: { access_token: ['a', 'b'] },
    }
    expect(find(request)).to.deep.equal({ token: 'a', source: 'query' })
    expect(find({ ...request, rawHeaders: { cookie: 'session=c' } })?.source).to.equal('cookie')
    expect(find({ ...request, rawHeaders: { authorization: 'Bearer h' } })).to.deep.equal({
      token: 'h',
      source: 'header',
    })
  })

  it('is read in a time linear in the length of the cookies', () => {
    const plain = `session=${'x'.repeat(15_000)}`
    const spaced = `session=x${' '.repeat(15_000)}y`
    const timeOf = (cookie: string): number => leastTime(() => credentialOf({ cookie }), 200)
    expect(timeOf(spaced)).to.be.below(20 * timeOf(plain))
  })
})

describe('the option credentials', () => {
  const app = (options: AppOptions) =>
    createApp(options)
      .use(tokens())
      .use(
        createRouter()
          .get('/me', { auth: true }, (ctx) => {
            ctx.set('Cache-Control', 'public, max-age=60')
            return ctx.user.id
          })
          .get('/token', (ctx) => ({ token: ctx.token }))
          .get('/bare', (ctx) => {
            const { res } = ctx.koa
            ctx.koa.respond = false
            if (ctx.token !== null) res.end('bare')
          }),
      )

  const asks = {
    header: (url: string) => ({ url, headers: bearer('ada') }),
    cookie: (url: string) => ({ url, headers: { cookie: 'access_token=ada' } }),
    query: (url: string) => ({ url: `${url}?access_token=ada` }),
  } as const
  const SOURCES = ['header', 'cookie', 'query'] as const

  for (const left of SOURCES)
    it(`accepts only ${left}`, async () => {
      const one = app({ credentials: [left] })
      for (const source of SOURCES) {
        const expected = source === left ? 200 : 401
        expect((await one.inject(asks[source]('/me'))).statusCode, source).to.equal(expected)
        expect((await one.inject(asks[source]('/token'))).json(), source).to.deep.equal({
          token: source === left ? 'ada' : null,
        })
      }
      await one.close()
    })

  it('has all sources by default', async () => {
    const one = app({})
    for (const source of SOURCES) expect((await one.inject(asks[source]('/me'))).statusCode).to.equal(200)
    await one.close()
  })

  it('is rejected with an unknown source or an empty list', () => {
    for (const credentials of [[], ['headers'], ['header', 'body'], 'header', {}, null])
      expect(() => createApp({ credentials } as unknown as AppOptions), JSON.stringify(credentials)).to.throw(
        StartupError,
        'credentials',
      )
    expect(() => createApp({ credentials: ['quary'] } as unknown as AppOptions)).to.throw(
      "Did you mean 'query'?",
    )
  })

  for (const [credentials, scheme] of [
    [['header', 'cookie'], { type: 'http', scheme: 'bearer' }],
    [['cookie', 'query'], { type: 'apiKey', in: 'cookie', name: 'access_token' }],
    [['query'], { type: 'apiKey', in: 'query', name: 'access_token' }],
  ] as const)
    it(`shows in OpenAPI as ${credentials.join(' and ')}`, async () => {
      const one = app({ credentials })
      const document = (await one.inject('/openapi.json')).json<{
        components: { securitySchemes: object }
        paths: Record<string, { get: { security: object[] } }>
      }>()
      expect(document.components.securitySchemes).to.deep.equal({ bearer: scheme })
      expect(document.paths['/me']!.get.security).to.deep.equal([{ bearer: [] }])
      await one.close()
    })

  throughBothAdapters((open) => {
    it('are found in the sent headers also after a schema has left others in ctx.headers', async () => {
      const definition = { headers: object({ 'x-page': number().required() }).noUnknown() }
      const router = createRouter().get('/', definition, ({ credential, headers }) => ({
        credential,
        headers,
      }))
      const served = await open(createApp({ logger: false }).use(router))
      const response = await served.fetch('/', { headers: { ...bearer('ada'), 'x-page': '2' } })
      expect(await response.json()).to.deep.equal({
        credential: { token: 'ada', source: 'header' },
        headers: { 'x-page': 2 },
      })
    })

    it('makes a response to a credential in the query no-store, even if the handler sets something else', async () => {
      const { fetch } = await open(app({}))
      for (const [path, status] of [
        ['/me?access_token=ada', 200],
        ['/me?access_token=bad', 401],
        ['/token?access_token=ada', 200],
        ['/bare?access_token=ada', 200],
        ['/nowhere?access_token=ada', 404],
      ] as const) {
        const response = await fetch(path)
        await response.text()
        expect(response.status, path).to.equal(status)
        expect(response.headers.get('cache-control'), path).to.equal('no-store')
        expect(response.headers.get('referrer-policy'), path).to.equal('no-referrer')
      }
      const plain = await fetch('/me', { headers: bearer('ada') })
      expect(plain.headers.get('cache-control')).to.equal('public, max-age=60')
      expect(plain.headers.get('referrer-policy')).to.equal(null)
    })
  })
})
