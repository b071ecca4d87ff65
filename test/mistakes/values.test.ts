import { expect } from 'chai'
import { createApp, createRouter, defineRoute, fromKoa, HttpError, NotFound, type Context } from 'mortar'
import { number } from 'mortar/yup'
import { withRoutes } from './folder-of-routes.ts'

describe('A value that JSON cannot express', () => {
  it('is named with the route and the path, also under a schema', () =>
    withRoutes(
      {
        'routes/map.get.js': `export { response } from '../shape.js'\nexport default () => ({ m: new Map([['a', 1]]) })\n`,
        'routes/bytes.get.js': `export default () => ({ image: new Uint8Array([1, 2]) })\n`,
        'shape.js': `import { object } from '${import.meta.resolve('yup')}'\nexport const response = { 200: object({ m: object().required() }) }\n`,
      },
      async ({ get }) => {
        expect((await get('/map')).detail).to.match(
          /^The value that GET \/map \(routes\/map\.get\.js\) returned cannot be sent as JSON: m is a Map\./,
        )
        expect((await get('/bytes')).detail).to.match(
          /GET \/bytes .*: image is a Uint8Array\. Return it alone, or as text: .*base64/,
        )
      },
    ))
})

describe('A value of a type that the function does not accept', () => {
  /** The detail of the response to a handler that makes the mistake; TypeScript would refuse it. */
  const detailOf = async (mistake: (ctx: Context) => unknown): Promise<string> => {
    const app = createApp({ environment: 'development', logger: false, signals: false })
    app.use(createRouter().get('/', (ctx) => mistake(ctx as Context)))
    const response = await app.inject('/')
    expect(response.statusCode).to.equal(500)
    await app.close()
    return response.json().detail as string
  }

  for (const [name, mistake, detail] of [
    [
      'a class of an error',
      () => {
        throw NotFound as unknown as Error
      },
      'A value that is not an Error was thrown: the function NotFound; of a class throw an instance. Throw an Error, or an HttpError to set the status.',
    ],
    [
      'a status',
      (ctx) => {
        ctx.status = '201' as never
      },
      'ctx.status is a status from 200 to 599, not the string 201',
    ],
    [
      'a value of a cookie',
      (ctx) => ctx.cookies.set('a', { b: 1 } as never),
      "The value of the cookie 'a' is an object. Set a string, such as JSON.stringify(value).",
    ],
    [
      'an option of a cookie',
      (ctx) => ctx.cookies.set('a', 'b', { samesite: 'strict' } as never),
      "Unknown option 'samesite' of the cookie 'a'. Did you mean 'sameSite'?",
    ],
    [
      'an option of a cookie in another framework',
      (ctx) => ctx.cookies.set('a', 'b', { encode: String } as never),
      "Unknown option 'encode' of the cookie 'a'. The options are maxAge, expires, path, domain, secure, httpOnly, sameSite, priority, partitioned, overwrite.",
    ],
  ] as readonly (readonly [string, (ctx: Context) => unknown, string])[])
    it(`is named: ${name}`, async () => {
      expect(await detailOf(mistake)).to.equal(detail)
    })

  it('is not suspected in a cookie with every option', async () => {
    const options = { maxAge: 1, expires: new Date(), path: '/', domain: 'a.example', secure: false } as const
    const others = {
      httpOnly: true,
      sameSite: 'none',
      priority: 'low',
      partitioned: false,
      overwrite: true,
    } as const
    const app = createApp({ logger: false, signals: false, keys: ['a key'] }).use(
      createRouter().get('/', (ctx) => {
        ctx.cookies.set('a', 'b', { ...options, ...others, signed: true }).set('a', null)
        ctx.cookies.set('c', '1', { maxAge: undefined })
        ctx.cookies.set('d', '1', { samesite: undefined, secureProxy: false, maxage: 1 } as never)
        return 'ok'
      }),
    )
    expect((await app.inject('/')).body).to.equal('ok')
    await app.close()
  })
})

describe('A detail of an error that is not a string', () => {
  const Loose = NotFound as new (detail?: unknown) => NotFound
  const detailOf = async (given: unknown): Promise<unknown> => {
    const app = createApp({ logger: false, signals: false }).use(
      createRouter().get('/', () => {
        throw new Loose(given)
      }),
    )
    const response = await app.inject('/')
    expect(response.statusCode).to.equal(404)
    await app.close()
    return response.json().detail
  }

  for (const given of [undefined, null, { message: 'gone' }, ['gone'], Object.create(null)])
    it(`is the default of the class for ${JSON.stringify(given) ?? 'undefined'}`, async () => {
      expect(await detailOf(given)).to.equal('There is nothing here.')
    })

  it('is the string of an Error, as in a catch clause', async () => {
    expect(await detailOf(new RangeError('no such page'))).to.equal('RangeError: no such page')
  })

  it('is the name of the status for an HttpError without a class of its own', () => {
    const Teapot = HttpError as new (status: number, detail: unknown) => HttpError
    expect(new Teapot(418, { short: true })).to.include({ status: 418, message: "I'm a Teapot" })
    expect(new Teapot(599, { short: true })).to.include({ status: 599, message: 'Status 599' })
  })
})

describe('A factory of Koa middleware that was not called', () => {
  it('is named at the request, where all paths would be 404', async () => {
    const cors = () => async (_ctx: unknown, next: () => Promise<unknown>) => next()
    const app = createApp({ environment: 'development', logger: false, signals: false })
      .use(fromKoa(cors as never))
      .use(createRouter().get('/', () => 'ok'))
    const response = await app.inject('/')
    expect(response.statusCode).to.equal(500)
    expect(response.json().detail).to.equal(
      'fromKoa() was given cors, which returned a function. Call it: fromKoa(cors()).',
    )
    await app.close()
  })
})

describe('A redirect of a response', () => {
  it('needs neither a type nor a schema, unlike a success', async () => {
    const startWith = async (status: number) => {
      const app = createApp({ environment: 'development', logger: false, signals: false })
      const response = { [status]: { description: 'Elsewhere.' } }
      const code = await app
        .use(createRouter().get('/', { response }, () => undefined as never))
        .ready()
        .then(() => 'started')
        .catch((error: { code: string }) => error.code)
      await app.close()
      return code
    }
    for (const status of [204, 205, 300, 302, 404])
      expect(await startWith(status), `${status}`).to.equal('started')
    for (const status of [200, 299])
      expect(await startWith(status), `${status}`).to.equal('MORTAR_ROUTE_RESPONSE')
  })
})

describe('defineRoute in a router', () => {
  it('is served with its definition, like its arguments', async () => {
    const route = defineRoute({ response: { 201: number() } }, (ctx) => {
      ctx.status = 201
      return 1
    })
    const app = createApp({ environment: 'development', logger: false, signals: false })
    const { statusCode, payload } = await app.use(createRouter().get('/', route)).inject('/')
    expect([statusCode, payload]).to.deep.equal([201, '1'])
    await app.close()
  })
})
