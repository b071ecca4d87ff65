import { expect } from 'chai'
import { Router } from '@koa/router'
import * as mortar from 'mortar'
import { createApp, createRouter, defineBrick, fromKoa, fromKoaRouter, HttpError, NotFound, sendFile, type Middleware } from 'mortar' // prettier-ignore
import { limits } from '@mortar/limits'
import { mail } from '@mortar/mail'
import { metrics } from '@mortar/metrics'
import { number, object, string } from 'yup'
import { asHttpError } from '../../src/context/thrown.ts'
import { ADA, inWorld, signedUp } from '../plugins/auth/support/world.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

/** True for an error whose stack is its name and message, without frames. */
const isStackless = ({ stack, name, message }: Error) => stack === `${name}: ${message}`

/** Constructors of the errors that need arguments. */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  HttpError: [400, 'Why'],
  MethodNotAllowed: [['GET']],
  TooManyRequests: [1],
  ValidationFailed: [[]],
}

describe('An HttpError', () => {
  it('has no frames below 500 and with 503, where it is an intended response', () => {
    const statuses = Array.from({ length: 200 }, (_, index) => 400 + index)
    const without = statuses.filter((status) => isStackless(new HttpError(status, 'Why')))
    expect(without).to.deep.equal([...statuses.slice(0, 100), 503])
    expect(new HttpError(500, 'Why').stack).to.contain('stackless.test')
  })

  const classes = Object.values(mortar).filter(
    (value): value is typeof HttpError =>
      typeof value === 'function' && (value === HttpError || value.prototype instanceof HttpError),
  )
  for (const Kind of classes)
    it(`has no frames as ${Kind.name}`, () => {
      const error = Reflect.construct(Kind, ARGUMENTS[Kind.name] ?? []) as HttpError
      expect([error.name, isStackless(error)]).to.deep.equal([Kind.name, true])
    })

  it('leaves other errors their frames, also when it cannot be made', () => {
    const unreadable = { get cause(): unknown { throw new Error('no cause') } } // prettier-ignore
    expect(new Error('after', { cause: new NotFound() }).stack).to.contain('stackless.test')
    expect(() => new HttpError(42, 'x')).to.throw(RangeError)
    expect(() => new NotFound('gone', unreadable)).to.throw('no cause')
    expect(new Error('after').stack).to.contain('stackless.test')
  })

  it('is made where Error cannot be changed, as with node --frozen-intrinsics', () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!
    Object.defineProperty(Error, 'stackTraceLimit', { ...before, writable: false })
    try {
      expect(new NotFound('gone').message).to.equal('gone')
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', before)
    }
  })
})

/** Stores the errors that pass it. */
const watching =
  (seen: Error[]): Middleware =>
  async (_ctx, next) => {
    try {
      return await next()
    } catch (error) {
      seen.push(error as Error)
      throw error
    }
  }

const LATER = object({ q: string().test('later', async (q) => q === undefined) })

describe('A refused request', () => {
  const seen: Error[] = []
  const app = createApp({ bodyLimit: 100 })
    .use(tokens({ never: () => false }))
    .use(limits())
    .use(watching(seen))
    .use(
      createRouter()
        .get('/users/:id', { params: object({ id: number().required() }) }, () => 'a user')
        .get('/mine', { auth: true }, () => 'mine')
        .get('/never', { auth: 'never' }, () => 'never')
        .get('/thrown', () => {
          throw new NotFound('No such user.', { cause: new Error('why') })
        })
        .get('/koa', (ctx) => ctx.koa.throw(409, 'taken'))
        .get('/later', { query: LATER }, () => 'later')
        .post('/', { body: object() }, () => 'a body')
        .post('/form', { body: object(), consumes: ['multipart/form-data'] }, () => 'a form')
        .get('/limited', { limit: { limit: 1, window: '1m', by: () => 'all' } }, () => 'once')
        .get('/files/:name', (ctx) => sendFile(ctx, ctx.params['name'], { root: import.meta.dirname }))
        .use(fromKoaRouter(new Router().get('/layers/:id', (_ctx, next) => next()))),
    )
  const post = (type: string, payload: string) =>
    ({ method: 'POST', url: '/', headers: { 'content-type': type }, payload }) as const
  const REFUSED = [
    [404, '/nowhere'],
    [405, { method: 'PUT', url: '/mine' }],
    [422, '/users/ada'],
    [422, '/later?q=x'],
    [422, post('application/json', '[]')],
    [401, '/mine'],
    [401, { url: '/mine', headers: bearer('bad') }],
    [403, { url: '/never', headers: bearer('ada') }],
    [400, '/%zz'],
    [400, post('application/json', '{')],
    [413, post('application/json', JSON.stringify('x'.repeat(200)))],
    [400, { ...post('multipart/form-data; boundary=x', '--x\r\nbroken'), url: '/form' }],
    [415, post('image/png', 'x')],
    [404, '/files/missing'],
    [404, '/files/.hidden'],
    [404, '/layers/1'],
    [429, '/limited'],
    [404, '/thrown'],
  ] as const

  before(() => app.inject('/limited'))
  beforeEach(() => void seen.splice(0))
  after(() => app.close())

  for (const [status, request] of REFUSED)
    it(`has no frames: ${status} for ${JSON.stringify(request).slice(0, 80)}`, async () => {
      expect((await app.inject(request)).statusCode).to.equal(status)
      expect(seen.map(({ stack }) => stack)).to.deep.equal(seen.map(({ name, message }) => `${name}: ${message}`)) // prettier-ignore
      expect(seen.map((error) => error instanceof HttpError && error.status)).to.deep.equal([status])
    })

  it('is an exception for Koa middleware, which can respond to it', async () => {
    const caught = createApp().use(
      fromKoa(async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          ctx.body = (error as Error).name
        }
      }),
    )
    caught.use(createRouter().get('/:id', { params: object({ id: number() }), query: LATER }, () => 'found'))
    for (const url of ['/ada', '/1?q=x'])
      expect((await caught.inject(url)).payload).to.equal('ValidationFailed')
    expect((await caught.inject('/1')).payload).to.equal('found')
    await caught.close()
  })

  it('has no frames when it is made of an error of ctx.koa.throw, which keeps its own', async () => {
    expect((await app.inject('/koa')).statusCode).to.equal(409)
    const error = asHttpError(seen[0]) as Error
    expect(error.stack).to.equal('HttpError: taken')
    expect((error.cause as Error).stack).to.contain('stackless.test')
  })

  it('keeps the frames of the cause', async () => {
    await app.inject('/thrown')
    expect((seen[0]!.cause as Error).stack).to.contain('stackless.test')
  })
})

describe('A refusal of a brick', () => {
  const seen: Error[] = []
  const watch = defineBrick({ name: 'watch', middleware: [watching(seen)] })
  beforeEach(() => void seen.splice(0))

  it('has no frames in the flows of auth', () =>
    inWorld({ limited: true, bricks: [watch] }, async (world) => {
      const client = await signedUp(world)
      const older = client.copy()
      const change = (current: string, next: string) =>
        client.post('/auth/change-password', { current, next })
      const refused = [
        await client.post('/auth/signup', ADA),
        await client.post('/auth/login', { ...ADA, password: 'not the password' }),
        await change('not the password', 'another horse battery'),
        await change(ADA.password, 'password1'),
        await world.client().post('/auth/refresh'),
        await client.post('/auth/reset-password', {
          token: 'x'.repeat(43),
          password: 'another horse battery',
        }),
      ].map(({ status }) => status)
      expect(refused).to.deep.equal([409, 401, 401, 422, 401, 401])
      await client.post('/auth/login', ADA)
      expect((await older.post('/auth/refresh')).status).to.equal(401)
      let last = 0
      for (let tries = 0; tries < 40 && last !== 429; tries++)
        last = (await world.client().post('/auth/login', { ...ADA, password: 'wrong' })).status
      expect(last).to.equal(429)
      expect(seen.length).to.be.above(refused.length)
      expect(seen.filter((error) => !isStackless(error))).to.deep.equal([])
    }))

  it('has no frames in metrics and mail', async () => {
    const app = createApp({ environment: 'test', logger: false })
      .use(watch)
      .use(metrics({ process: false, token: 'a-token-of-the-tests' }))
      .use(mail({ from: 'hello@example.com', transport: 'memory' }))
    const statuses: number[] = []
    for (const url of ['/metrics', '/_framework/mail/1']) statuses.push((await app.inject(url)).statusCode)
    await app.close()
    expect(statuses).to.deep.equal([401, 404])
    expect(seen.map(isStackless)).to.deep.equal([true, true])
  })
})
