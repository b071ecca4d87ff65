import { expect } from 'chai'
import { Router } from '@koa/router'
import { createApp, createRouter, fromKoa, fromKoaRouter, HttpError, NotFound, sendFile, Unauthorized } from 'mortar' // prettier-ignore
import { limits } from 'mortar/limits'
import { number, object, string } from 'yup'
import { asHttpError } from '../../src/context/thrown.ts'
import { stackless } from '../../src/errors/stackless.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

describe('stackless', () => {
  it('makes an error without frames, and does not change later errors', () => {
    expect(stackless(NotFound, 'gone').stack).to.equal('NotFound: gone')
    expect(new NotFound('gone').stack).to.contain('stackless.test')
    expect(() => stackless(HttpError, 42, 'x')).to.throw(RangeError)
    expect(new NotFound('gone').stack).to.contain('stackless.test')
  })

  it('keeps the default code of an error', () => {
    expect([400, 401, 404, 418, 422, 500, 503, 599].map((status) => new HttpError(status, '').code)).to.deep.equal(['bad_request', 'unauthorized', 'not_found', 'bad_request', 'validation_failed', 'internal_error', 'service_unavailable', 'internal_error']) // prettier-ignore
  })
})

const LATER = object({ q: string().test('later', async (q) => q === undefined) })

describe('A refusal of the framework', () => {
  const seen: Error[] = []
  const app = createApp({ bodyLimit: 100 })
    .use(tokens({ never: () => false }))
    .use(limits())
    .use(async (_ctx, next) => {
      try {
        return await next()
      } catch (error) {
        seen.push(error as Error)
        throw error
      }
    })
    .use(
      createRouter()
        .get('/users/:id', { params: object({ id: number().required() }) }, () => 'a user')
        .get('/mine', { auth: true }, () => 'mine')
        .get('/never', { auth: 'never' }, () => 'never')
        .get('/thrown', () => {
          throw new Unauthorized('Not you.', { cause: new Error('why') })
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

  it('keeps stack and cause of errors that an application throws', async () => {
    expect((await app.inject('/thrown')).statusCode).to.equal(401)
    expect(seen[0]!.stack).to.contain('stackless.test')
    expect(seen[0]!.cause).to.be.an('error')
  })
})
