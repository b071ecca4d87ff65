import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  sendFile,
  sse,
  type AppOptions,
  type Context,
  type Handler,
  type RouteDefinition,
} from 'mortar'
import { array, mixed, number, object, string } from 'yup'
import { z } from 'zod'
import { throughBothAdapters } from '../support/adapters.ts'

type Response200 = NonNullable<RouteDefinition['response']>[200]

const appOf = (response: RouteDefinition['response'], handler: Handler, options: AppOptions = {}) =>
  createApp(options).use(createRouter().get('/', response ? { response } : {}, handler as never))

interface Problem {
  readonly code: string
  readonly detail: string
}

describe('A declared pattern of media types', () => {
  throughBothAdapters((open) => {
    const response = { 200: { type: 'image/*' } }
    const typeOf = async (handler: Handler): Promise<[number, string | null]> => {
      const { status, headers } = await (await open(appOf(response, handler))).fetch('/')
      return [status, headers.get('content-type')]
    }

    it('is never sent, because a response has one type', async () => {
      expect(await typeOf(() => Buffer.from('abc'))).to.deep.equal([200, 'application/octet-stream'])
      expect(await typeOf(() => new Blob(['abc'], { type: 'image/gif' }))).to.deep.equal([200, 'image/gif'])
      expect(
        await typeOf((ctx) => {
          ctx.type = 'image/png'
          return Buffer.from('abc')
        }),
      ).to.deep.equal([200, 'image/png'])
      expect(
        await typeOf((ctx) =>
          sendFile(ctx, { size: 3, open: () => Buffer.from('abc') }, { type: 'image/webp' }),
        ),
      ).to.deep.equal([200, 'image/webp'])
    })

    it('refuses a value that does not fit', async () => {
      expect((await typeOf(() => ({ a: 1 })))[0]).to.equal(500)
    })
  })
})

const sharedBytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(new SharedArrayBuffer(text.length))
  bytes.set(new TextEncoder().encode(text))
  return bytes
}

describe('A response that is sent unchanged', () => {
  const bodies: readonly (readonly [string, () => unknown, string?])[] = [
    ['a Node stream', () => Readable.from([Buffer.from('abc')])],
    ['a Buffer', () => Buffer.from('abc')],
    ['a typed array', () => new Uint16Array(new TextEncoder().encode('abcd').slice(0, 4).buffer), 'abcd'],
    ['a part of a typed array', () => new TextEncoder().encode('xabcx').subarray(1, 4)],
    ['a DataView', () => new DataView(new TextEncoder().encode('abc').buffer)],
    ['an ArrayBuffer', () => new TextEncoder().encode('abc').buffer],
    ['an ArrayBuffer of another realm', () => runInNewContext('new Uint8Array([97, 98, 99]).buffer')],
    ['a SharedArrayBuffer', () => sharedBytes('abc').buffer],
    ['a Blob', () => new Blob(['abc'])],
    ['a web stream', () => new Blob(['abc']).stream()],
    ['a web Response', () => new Response('abc')],
    ['an async iterable', async function* () { yield 'a'; yield 'bc' }],
    ['an async iterable of a literal', () => ({ async *[Symbol.asyncIterator]() { yield 'a'; yield 'bc' } })],
    ['an async iterable of one property', () => Object.create(null, { [Symbol.asyncIterator]: { value: async function* () { yield 'abc' } } })],
  ] // prettier-ignore
  const schemas: readonly (readonly [string, Response200])[] = [
    ['no schema', undefined as never],
    ['object()', object({ a: string().required() })],
    ['mixed()', mixed()],
    ['string()', string().required()],
    ['an object of zod', z.object({ a: z.string() })],
  ]
  throughBothAdapters((open) => {
    for (const [name, make, text = 'abc'] of bodies)
      it(`bypasses the schema: ${name}`, async () => {
        for (const [schemaName, schema] of schemas) {
          const response = await (await open(appOf(schema && { 200: schema }, make))).fetch('/')
          expect(response.status, schemaName).to.equal(200)
          expect(await response.text(), schemaName).to.equal(text)
        }
        const typed = await (await open(appOf({ 200: { type: 'application/pdf' } }, make))).fetch('/')
        expect(await typed.text()).to.equal(text)
        if (name !== 'a web Response') expect(typed.headers.get('content-type')).to.equal('application/pdf')
      })
  })
})

describe('A response with a media type', () => {
  throughBothAdapters((open) => {
    const get = async (content: Response200, handler: Handler, options?: AppOptions) => {
      const response = await (await open(appOf({ 200: content }, handler, options))).fetch('/')
      return {
        status: response.status,
        type: response.headers.get('content-type'),
        text: await response.text(),
      }
    }

    it('sends a string under it', async () => {
      expect(await get({ type: 'text/csv' }, () => 'a;b')).to.deep.equal({ status: 200, type: 'text/csv; charset=utf-8', text: 'a;b' }) // prettier-ignore
      expect((await get({ type: 'image/svg+xml' }, () => '<svg/>')).type).to.equal('image/svg+xml')
    })

    it('has a charset if it is text or JSON, unless it names one, and JSON fits a pattern of it', async () => {
      for (const [type, value, expected] of [
        ['text/csv; charset=utf-16', 'a', 'text/csv; charset=utf-16'],
        ['Text/Plain', 'a', 'Text/Plain; charset=utf-8'],
        ['application/json', { a: 1 }, 'application/json; charset=utf-8'],
        ['application/*', { a: 1 }, 'application/json; charset=utf-8'],
        ['*/*', { a: 1 }, 'application/json; charset=utf-8'],
        ['*/*', 'a', 'text/plain; charset=utf-8'],
      ] as const) {
        const sent = await get({ type }, () => value)
        expect([sent.status, sent.type], type).to.deep.equal([200, expected])
      }
    })

    it('of events sends strings without quotes through their schema', async () => {
      const schema = string().required()
      const handler: Handler = (ctx) => sse(ctx, [{ data: 'one' }, 'two'])
      const { status, text } = await get({ type: 'text/event-stream', schema }, handler)
      expect([status, text]).to.deep.equal([200, 'data: one\n\ndata: two\n\n'])
    })

    it('lets a handler choose another', async () => {
      const handler: Handler = (ctx: Context) => {
        ctx.type = 'text/tab-separated-values'
        return 'a\tb'
      }
      expect((await get({ type: 'text/csv' }, handler)).type).to.match(/^text\/tab-separated-values/)
    })

    it('validates a string by its schema', async () => {
      const content = { type: 'text/csv', schema: string().required().matches(/;/) }
      expect((await get(content, () => 'a;"é"')).text).to.equal('a;"é"')
      expect((await get(content, () => 'none')).status).to.equal(500)
    })

    it('sends JSON of another type, filtered by its schema', async () => {
      const content = { type: 'application/ld+json', schema: object({ a: number() }) }
      expect(await get(content, () => ({ a: 1, b: 2 }))).to.deep.equal({ status: 200, type: 'application/ld+json', text: '{"a":1}' }) // prettier-ignore
      for (const type of ['application/json', 'application/ld+json'])
        expect((await get({ type, schema: string() }, () => 'a "b"')).text, type).to.equal('"a \\"b\\""')
      expect((await get({ type: 'application/json' }, () => ({ a: 1, b: 2 }))).text).to.equal('{"a":1,"b":2}')
      expect((await get({ schema: object({ a: number() }), description: 'One.' }, () => ({ a: 1, b: 2 }))).text).to.equal('{"a":1}') // prettier-ignore
    })

    it('is a 500 for a value that it cannot send', async () => {
      for (const value of [{ a: 1 }, [1], 5, true]) {
        const { status, text } = await get({ type: 'text/csv' }, () => value)
        expect(status).to.equal(500)
        expect((JSON.parse(text) as Problem).detail).to.match(
          /GET \/ \(router \/\) returned .* declares text\/csv.* for 200/,
        )
      }
    })
  })

  it('is in the OpenAPI document', async () => {
    const response = {
      200: { type: 'text/csv', description: 'The table.' },
      201: { type: 'application/pdf' },
      202: { type: 'application/ld+json', schema: object({ a: number().required() }) },
      203: { type: 'application/vnd.api+json' },
    }
    const app = appOf(response, () => 'a')
    const document = (await app.inject('/openapi.json')).json()
    const { responses } = document.paths['/'].get
    expect(responses[200]).to.deep.equal({ description: 'The table.', content: { 'text/csv': { schema: { type: 'string' } } } }) // prettier-ignore
    expect(responses[201].content).to.deep.equal({ 'application/pdf': { schema: { type: 'string', format: 'binary' } } }) // prettier-ignore
    expect(responses[202].content['application/ld+json'].schema).to.include({ type: 'object' })
    expect(responses[203].content).to.deep.equal({ 'application/vnd.api+json': { schema: {} } })
    await app.close()
  })

  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ['neither', { description: 'x' }, /neither `type` nor `schema`/],
    ['nothing', {}, /neither `type` nor `schema`/],
    ['a misspelt key', { typ: 'text/csv' }, /"typ".*[^]*Did you mean "type"/],
    ['the key of another framework', { contentType: 'text/csv' }, /Did you mean "type"/],
    ['an invalid type', { type: 'csv' }, /not a media type/],
    ['an invalid schema', { type: 'text/csv', schema: 5 }, /not a schema/],
    ['an invalid description', { type: 'text/csv', description: 5 }, /description/],
    ['fields without object()', { id: string() }, /object\(/],
  ]
  for (const [name, content, message] of wrong)
    it(`is checked at the start: ${name}`, async () => {
      const app = appOf({ 200: content as Response200 }, () => 'a')
      const error = await app.ready().then(() => undefined, (reason: unknown) => reason as Error) // prettier-ignore
      expect(error?.message).to.match(message)
    })
})

describe('A value that the schema passes and JSON hides', () => {
  throughBothAdapters((open) => {
    it('is refused with its path, and in production not searched for', async () => {
      const outcome = async (environment: AppOptions['environment'] & string) => {
        const value = { items: [{ tags: new Map([['a', 1]]) }] }
        const app = appOf({ 200: mixed() }, () => value, { environment, logger: false, signals: false })
        const response = await (await open(app)).fetch('/')
        return [response.status, await response.text()] as const
      }
      const [status, text] = await outcome('development')
      expect([status, text.includes('items[0].tags')]).to.deep.equal([500, true])
      expect(await outcome('production')).to.deep.equal([200, '{"items":[{"tags":{}}]}'])
    })
  })
})

describe('A handler that returns nothing', () => {
  throughBothAdapters((open) => {
    const status = async (response: RouteDefinition['response'], handler: Handler, options?: AppOptions) =>
      (await (await open(appOf(response, handler, options))).fetch('/')).status

    it('is a mismatch if its route declares a body', async () => {
      for (const schema of [object({ a: string() }), mixed(), string(), { type: 'text/csv' }, z.object({})])
        for (const value of [undefined, null]) {
          const response = await (await open(appOf({ 200: schema }, () => value))).fetch('/')
          if (value === null && schema instanceof Object && 'type' in schema && schema.type === 'mixed')
            continue
          const problem = (await response.json()) as Problem
          expect(problem.code).to.equal('response_mismatch')
          if (value === undefined)
            expect(problem.detail).to.match(/GET \/ \(router \/\) returned nothing.*`return` missing/)
        }
      expect(await status({ 201: object({ a: string() }) }, () => undefined)).to.equal(500)
    })

    it('sends no details in production, and logs the mismatch', async () => {
      const lines: unknown[] = []
      const logger = { debug() {}, info() {}, warn() {}, error: (fields: unknown) => lines.push(fields), child: () => logger } // prettier-ignore
      const app = appOf({ 200: object() }, () => undefined, {
        environment: 'production',
        logger,
        signals: false,
      })
      const problem = (await (await (await open(app)).fetch('/')).json()) as Problem
      expect(problem.detail).to.equal('The server failed to process this request.')
      expect(JSON.stringify(lines)).to.contain('returned nothing')
    })

    it('sends 204 for HEAD, whatever body its route declares', async () => {
      const router = createRouter().head(
        '/',
        { response: { 200: object({ a: string() }) } },
        () => undefined as never,
      )
      const { fetch } = await open(createApp({ logger: false }).use(router))
      expect((await fetch('/', { method: 'HEAD' })).status).to.equal(204)
    })

    it('sends null if the schema allows null', async () => {
      const response = await (await open(appOf({ 200: object().nullable() }, () => null))).fetch('/')
      expect(response.status).to.equal(200)
      expect(await response.text()).to.equal('null')
    })

    it('sends an empty response if no other is declared', async () => {
      expect(await status(undefined, () => undefined)).to.equal(204)
      expect(await status({ 404: object() }, () => undefined)).to.equal(204)
      expect(await status({ 200: object(), 204: mixed() }, () => undefined)).to.equal(204)
      expect(await status({ 200: object() }, (ctx) => void (ctx.status = 204))).to.equal(204)
      expect(await status({ 200: object() }, (ctx) => ctx.redirect('/x', 307))).to.equal(200 + 107)
      expect(await status({ 302: { description: 'To the page.' } }, (ctx) => ctx.redirect('/x'))).to.equal(
        302,
      )
    })
  })
})

describe('A value that JSON would drop', () => {
  function* numbers() {
    yield 1
  }
  const kinds: readonly (readonly [string, () => unknown])[] = [
    ['a Map', () => new Map([[1, 2]])],
    ['a Set', () => new Set([1])],
    ['a WeakMap', () => new WeakMap()],
    ['a URLSearchParams', () => new URLSearchParams('a=1')],
    ['a FormData', () => new FormData()],
    ['a RegExp', () => /a/],
    ['an Error', () => new TypeError('x')],
    ['an iterator', numbers],
  ]
  const loop: Record<string, unknown> = {}
  loop.self = { again: loop }
  throughBothAdapters((open) => {
    const get = async (value: unknown, response?: RouteDefinition['response'], options: AppOptions = {}) => {
      const answer = await (await open(appOf(response, () => value, options))).fetch('/')
      return { status: answer.status, text: await answer.text() }
    }
    const quiet: AppOptions = { environment: 'production', logger: false, signals: false }

    for (const [name, make] of kinds)
      it(`is a 500 that names it: ${name}`, async () => {
        for (const response of [undefined, { 200: mixed() }, { 200: object({ a: string() }) }]) {
          const { status, text } = await get(make(), response)
          expect(status).to.equal(500)
          expect(text).to.contain(`it is ${name}`)
          expect((await get(make(), response, quiet)).status).to.equal(500)
        }
      })

    it('is found inside, with its path', async () => {
      const shared = { a: 1 }
      // oxlint-disable-next-line unicorn/no-thenable -- a query builder that was not awaited
      const query = { table: 'users', then: () => undefined }
      const inside: readonly (readonly [unknown, string])[] = [
        [{ items: [{ total: 5n }] }, 'items[0].total is a bigint'],
        [loop, 'self.again is a reference to an object that contains it'],
        [{ a: { b: new Map() } }, 'a.b is a Map'],
        [{ user: Promise.resolve(1) }, 'user is a Promise. Await it first.'],
        [{ rows: [query] }, 'rows[0] is a Promise. Await it first.'],
        [[new Set()], '[0] is a Set'],
        [{ a: shared, b: [shared], c: 5n }, 'c is a bigint'],
      ]
      for (const [value, reason] of inside)
        for (const response of [undefined, { 200: mixed() }])
          expect((await get(value, response)).text).to.contain(reason)
      const nested = { 200: object({ user: object({ name: string() }) }) }
      expect((await get({ user: Promise.resolve({}) }, nested)).text).to.contain('user is a Promise')
      expect((await get({ user: {}, undeclared: new Map() }, nested)).text).to.equal('{"user":{}}')
      expect((await get({ items: [{ total: 5n }] }, undefined, quiet)).status).to.equal(500)
    })

    it('does not include values with a toJSON of their own', async () => {
      const listed = Object.assign(new Map([[1, 2]]), { toJSON: () => ({ size: 1 }) })
      expect((await get({ listed, when: new Date(0), bytes: Buffer.from('a') })).status).to.equal(200)
      expect((await get({ ids: [1] }, { 200: object({ ids: array(number()) }) })).text).to.equal(
        '{"ids":[1]}',
      )
      const shared = {}
      expect((await get([shared, shared])).text).to.equal('[{},{}]')
    })
  })
})
