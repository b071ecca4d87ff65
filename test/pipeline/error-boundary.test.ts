import { expect } from 'chai'
import { createApp, createRouter, HttpError, type Logger } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { rawRequest } from '../support/raw-request.ts'

const LARGE = 'x'.repeat(4_000_000)

const BODY_HEADERS = ['Content-Encoding', 'Content-Disposition', 'Content-Range', 'ETag', 'Last-Modified']

/** Values of `Cache-Control` that a failed handler has set, and whether the problem keeps them. */
const LIFETIMES = {
  'no-store': true,
  'no-cache': true,
  'private, no-cache': true,
  private: true,
  'max-age=60, no-store': true,
  'public, no-cache': true,
  public: false,
  'max-age=60': false,
  'private, max-age=60': false,
  's-maxage=60': false,
  'Public, Immutable': false,
  immutable: false,
}

const routes = () =>
  createRouter()
    .get('/headers', (ctx) => {
      for (const name of BODY_HEADERS) ctx.set(name, 'gzip')
      ctx.set('X-Kept', 'gzip')
      ctx.set('Content-Length', '5')
      throw new HttpError(418, 'No.')
    })
    .get('/cached', (ctx) => {
      ctx.set('Cache-Control', String(ctx.query['value']))
      throw new HttpError(418, 'No.')
    })
    .get('/to-json', () => {
      throw new HttpError(418, 'No.', { extensions: { toJSON: () => 'text' } })
    })
    .get('/twice', () => {
      const second = new HttpError(400, 'Second.', { headers: { 'bad header': 'x' } })
      throw Object.defineProperty(new HttpError(400, 'First.'), 'extensions', {
        get: () => {
          throw second
        },
      })
    })
    .get('/never/:member', (ctx) => {
      const { koa } = ctx
      // A response has the header X-Request-Id if its id was read.
      Reflect.get(ctx, (ctx.params as { member: string }).member)
      koa.res.setHeader = koa.res.writeHead = () => {
        throw new Error('No header.')
      }
      throw new HttpError(400, 'No.')
    })
    .get('/headers-of-the-error', () => {
      const headers = { 'x-request-id': 'mine', 'retry-after': '1', 'Retry-After': '2', 'X-Own': 'yes' }
      throw new HttpError(429, 'No.', { headers })
    })
    .get('/late', ({ koa }) => {
      koa.res.write('half')
      throw new Error('Too late.')
    })
    .get('/ended', ({ koa }) => {
      koa.res.end(LARGE)
      throw new Error('After the end.')
    })

describe('An error of a handler', () => {
  throughBothAdapters((open) => {
    const serve = async () => {
      const lines: Record<string, unknown>[] = []
      const logger = { error: (fields: Record<string, unknown>) => void lines.push(fields) }
      const ignore = (): void => undefined
      const whole = {
        debug: ignore,
        info: ignore,
        warn: ignore,
        child: () => whole,
        ...logger,
      } as unknown as Logger
      const { fetch, url } = await open(createApp({ logger: whole }).use(routes()))
      const raw = (path: string) =>
        rawRequest(Number(new URL(url).port), `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      return { fetch, raw, lines }
    }

    it('removes the headers that describe the body, and no others', async () => {
      const { fetch } = await serve()
      const response = await fetch('/headers')
      const { status, headers } = response
      expect([status, headers.get('content-type')]).to.deep.equal([418, 'application/problem+json'])
      expect(headers.get('x-kept')).to.equal('gzip')
      for (const name of BODY_HEADERS) expect(headers.has(name), name).to.equal(false)
      expect(await response.json()).to.include({ status: 418 })
    })

    it('removes the lifetime of the content in caches, and keeps what forbids caches', async () => {
      const { fetch } = await serve()
      for (const [value, isKept] of Object.entries(LIFETIMES)) {
        const { headers } = await fetch(`/cached?value=${value}`)
        expect(headers.get('cache-control'), value).to.equal(isKept ? value : null)
      }
    })

    it('sends each header of an HttpError once, and the request id of its problem', async () => {
      const { fetch } = await serve()
      const response = await fetch('/headers-of-the-error')
      const { instance } = (await response.json()) as { instance: string }
      expect(response.headers.get('x-own')).to.equal('yes')
      expect(response.headers.get('retry-after')).to.equal('2')
      expect(response.headers.get('x-request-id')).to.equal(instance)
    })

    it('with an extension toJSON is a problem all the same', async () => {
      const { fetch } = await serve()
      expect(await (await fetch('/to-json')).json()).to.include({ status: 418, detail: 'No.' })
    })

    it('that cannot be rendered, and whose rendering error cannot be rendered, is a plain 500', async () => {
      const { fetch } = await serve()
      const response = await fetch('/twice')
      expect(response.status).to.equal(500)
      expect(await response.json()).to.include({ detail: 'The thrown value cannot be rendered.' })
    })

    it('that cannot become a response cuts the connection', async () => {
      const { raw } = await serve()
      for (const member of ['path', 'id'])
        expect((await raw(`/never/${member}`)).ending, member).not.to.equal('timeout')
    })

    it('cuts a response that has begun, and does not change one that is complete', async () => {
      const { fetch, raw } = await serve()
      const { text, ending } = await raw('/late')
      expect(text).not.to.match(/0\r\n\r\n$/)
      expect(ending).not.to.equal('timeout')
      expect(await (await fetch('/ended')).text()).to.have.lengthOf(LARGE.length)
    })

    it('is logged with the id that the response carries', async () => {
      const { fetch, lines } = await serve()
      const { instance } = (await (await fetch('/twice')).json()) as { instance: string }
      expect(lines.at(-1)).to.include({ requestId: instance, method: 'GET', route: '/twice', status: 500 })
      expect(lines.at(-1)).to.include({ ip: '127.0.0.1', origin: 'router /' })
    })
  })
})

describe('The challenge of a 401', () => {
  it('is the one of the error or of middleware, and else Bearer', async () => {
    const app = createApp({ logger: false }).use(
      createRouter()
        .use((ctx, next) => {
          if (ctx.path === '/middleware') ctx.set('WWW-Authenticate', 'Digest')
          return next()
        })
        .get('/:kind', ({ path }) => {
          throw new HttpError(
            401,
            'No.',
            path === '/error' ? { headers: { 'WWW-Authenticate': 'Basic' } } : {},
          )
        }),
    )
    for (const [path, challenge] of [
      ['/error', 'Basic'],
      ['/middleware', 'Digest'],
      ['/plain', 'Bearer'],
    ] as const) {
      const { headers, rawHeaders } = (await app.inject(path)) as unknown as {
        headers: Record<string, unknown>
        rawHeaders?: readonly string[]
      }
      expect(headers['www-authenticate'], path).to.equal(challenge)
      if (rawHeaders) expect(rawHeaders.filter((name) => /^www-authenticate$/i.test(name))).to.have.length(1)
    }
    await app.close()
  })
})

describe('The log line of an error', () => {
  for (const environment of ['production', 'test'] as const)
    it(`has a hint only outside production: ${environment}`, async () => {
      const lines: Record<string, unknown>[] = []
      const ignore = (): void => undefined
      const logger = {
        debug: ignore,
        info: ignore,
        warn: ignore,
        error: (fields: Record<string, unknown>) => void lines.push(fields),
        child: () => logger,
      } as unknown as Logger
      const app = createApp({ environment, logger }).use(
        createRouter().get('/', () => {
          throw Object.assign(new Error('not found'), { status: 404 })
        }),
      )
      await app.inject('/')
      expect(lines).to.have.length(1)
      expect('hint' in lines[0]!).to.equal(environment === 'test')
      await app.close()
    })
})
