import { Router } from '@koa/router'
import { expect } from 'chai'
import type Koa from 'koa'
import { compareRouters, type Ask } from '../support/compare-with-koa.ts'

const users = () => {
  const router = new Router()
  router.use((ctx, next) => {
    ctx.set('X-Ran', 'yes')
    return next()
  })
  router.get('/users/:id', (ctx) => {
    ctx.body = ctx.params['id']
  })
  router.put('/users/:id', (ctx) => {
    ctx.body = 'put'
  })
  return router
}

const asks: Ask[] = [
  { path: '/users/1' },
  { method: 'PUT', path: '/users/1' },
  { method: 'SEARCH', path: '/users/1' },
  { method: 'SEARCH', path: '/users' },
]

const failure = (status: number, message: string) => Object.assign(new Error(message), { status })

const allowedMethods = (options = {}) => new Router().allowedMethods(options) as Koa.Middleware

describe('router.allowedMethods() by fromKoa, with an adopted router', () => {
  it('responds with 501 to methods that are not implemented, as in plain Koa', async () => {
    const [, , known, unknown] = await compareRouters(users, asks, [allowedMethods()])
    expect([known!.status, known!.headers['allow']]).to.deep.equal([501, 'HEAD, GET, PUT'])
    expect([unknown!.status, unknown!.headers['allow']]).to.deep.equal([501, ''])
  })

  it('throws the errors of its options, as in plain Koa', async () => {
    const caught: Koa.Middleware = async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        const { status, message } = error as { status: number; message: string }
        ctx.status = status
        ctx.body = message
      }
    }
    const errors = {
      throw: true,
      notImplemented: () => failure(501, 'not built'),
      methodNotAllowed: () => failure(405, 'not this method'),
    }
    const wrong: Ask[] = [...asks, { method: 'PATCH', path: '/users/1' }]
    const answers = await compareRouters(users, wrong, [caught, allowedMethods(errors)])
    expect(answers.map(({ status, body }) => `${status} ${body}`)).to.deep.equal([
      '200 1',
      '200 put',
      '501 not built',
      '501 not built',
      '405 not this method',
    ])
  })
})
