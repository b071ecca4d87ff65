import { expect } from 'chai'
import { createApp, createRouter, fromKoa, type Middleware } from 'mortar'
import { object, string } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

const passOn: Middleware = (_ctx, next) => next()

/** Names of the functions in a stack trace, innermost first. */
function functionsOf(stack: string): string[] {
  return stack.split('\n').flatMap((line) => /^ +at (?:async )?(?:\w+\.)?(\w+) /.exec(line)?.[1] ?? [])
}

describe('The stack trace of an error in a handler', () => {
  const { stackTraceLimit } = Error
  before(() => (Error.stackTraceLimit = 50))
  after(() => (Error.stackTraceLimit = stackTraceLimit))

  throughBothAdapters((open) => {
    const serve = async () => {
      const stacks: string[] = []
      const keep = (): never => {
        const error = new Error('Broken.')
        stacks.push(error.stack!)
        throw error
      }
      const router = createRouter()
        .get('/plain', keep)
        .get('/later', { auth: 'later' }, keep)
        .get('/items/:id', { auth: 'any', params: object({ id: string().required() }) }, keep)
        .post('/items', { auth: 'any', body: object({ id: string().required() }) }, keep)
      const app = createApp({ logger: false })
        .use(tokens({ any: () => true, later: async () => true }))
        .use(fromKoa((_ctx, next) => next()))
        .use(passOn)
        .use(router)
      const { fetch } = await open(app)
      return async (path: string, init: RequestInit = {}) => {
        await fetch(path, { ...init, headers: { ...bearer('ada'), 'Content-Type': 'application/json' } })
        return functionsOf(stacks.at(-1)!)
      }
    }

    it('names the steps of the pipeline, innermost first', async () => {
      const trace = await serve()
      const steps = ['handler', 'validate', 'guard', 'middleware', 'koaMiddleware', 'identify', 'enter']
      const names = await trace('/items/7')
      expect(names.filter((name) => steps.includes(name))).to.deep.equal(steps)
    })

    it('names the steps since the last asynchronous one', async () => {
      const trace = await serve()
      const body = await trace('/items', { method: 'POST', body: '{"id":"7"}' })
      expect(body).to.include.members(['handler', 'validate', 'parseBody'])
      const policy = await trace('/later')
      expect(policy).to.include.members(['handler', 'afterGuard'])
    })

    it('has no step that the route does not declare', async () => {
      const trace = await serve()
      const names = await trace('/plain')
      expect(names).to.include.members(['handler', 'middleware'])
      for (const step of ['validate', 'parseBody']) expect(names).not.to.include(step)
    })
  })
})
