import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { createApp, createRouter, fromKoa, type Handler, type RouteDefinition } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

type Make = (value: unknown) => PromiseLike<unknown>
type Settle = (value: unknown) => unknown

/** Makes an object whose `then` runs as a query builder does: each call begins the work. */
const thenable = (then: (resolve: Settle, reject: Settle) => unknown): PromiseLike<unknown> =>
  // oxlint-disable-next-line unicorn/no-thenable -- the subject of this file
  ({ then: (resolve: Settle, reject: Settle) => void then(resolve, reject) }) as never

/** Everything that `await` accepts. */
const KINDS: Readonly<Record<string, Make>> = {
  'a promise': (value) => Promise.resolve(value),
  'a promise of another realm': (value) => runInNewContext('Promise.resolve(value)', { value }),
  'an object whose then returns nothing and settles immediately': (value) =>
    thenable((resolve) => resolve(value)),
  'an object whose then returns nothing and settles later': (value) =>
    thenable((resolve) => setImmediate(resolve, value)),
  'an object that settles twice': (value) =>
    thenable((resolve, reject) => [resolve(value), resolve('other'), reject(new Error('other'))]),
  'an object that throws after it has settled': (value) =>
    thenable((resolve) => {
      resolve(value)
      throw new Error('too late')
    }),
  'an object of another object': (value) =>
    thenable((resolve) => resolve(thenable((settle) => settle(value)))),
}

const standard = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as never

const broken = { issues: [{ message: 'wrong' }] }

/** Code that may return a promise, with the responses if it settles to its good and to its bad value. */
interface Place {
  readonly good: unknown
  readonly bad: unknown
  readonly responses: readonly [good: string, bad: string]
  route(result: () => unknown): readonly [RouteDefinition, Handler?]
}

const ok: Handler = () => 'ok'
const text: Pick<Place, 'good' | 'bad' | 'responses'> = {
  good: 'ok',
  bad: undefined,
  responses: ['200 ok', '204 '],
}
const PLACES: Readonly<Record<string, Place>> = {
  'a handler': { ...text, route: (result) => [{}, result] },
  'a handler with a time limit': { ...text, route: (result) => [{ handlerTimeout: '1h' }, result] },
  'a handler without a time limit': { ...text, route: (result) => [{ handlerTimeout: 0 }, result] },
  'a handler with a response schema': {
    good: { ok: true },
    bad: { ok: 1 },
    responses: ['200 {"ok":true}', '500'],
    route: (result) => [
      {
        response: {
          200: standard((value) =>
            (value as { ok: unknown }).ok === true ? { value } : Promise.resolve(broken),
          ),
        },
      },
      result,
    ],
  },
  'the schema of a response': {
    good: { value: 'ok' },
    bad: broken,
    responses: ['200 ok', '500'],
    route: (result) => [{ response: { 200: standard(result) } }],
  },
  'the schema of a query': {
    good: { value: {} },
    bad: broken,
    responses: ['200 ok', '422'],
    route: (result) => [{ query: standard(result) }],
  },
  'a policy': {
    good: true,
    bad: false,
    responses: ['200 ok', '403'],
    route: () => [{ auth: 'subject' }],
  },
  'an authenticator': {
    good: { id: 'ada', raw: {} },
    bad: null,
    responses: ['200 ok', '401'],
    route: () => [{ auth: true }],
  },
}

describe('A value that await waits for', () => {
  throughBothAdapters((open) => {
    for (const environment of ['test', 'production'] as const)
      for (const [place, { route, responses, ...values }] of Object.entries(PLACES))
        it(`is awaited as the result of ${place}, of every kind (${environment})`, async () => {
          let subject: () => unknown = () => undefined
          const [definition, handler = ok] = route(() => subject())
          const around = { '/plain': createRouter(), '/own': createRouter(), '/koa': createRouter() }
          around['/own'].use(async (_ctx, next) => await next()).use((_ctx, next) => next())
          around['/koa'].use(fromKoa((_ctx, next) => next()))
          let app = createApp({ environment, logger: false }).use(
            tokens(
              { subject: () => (place === 'a policy' ? subject() : true) as boolean },
              place === 'an authenticator' ? { identify: () => subject() as never } : {},
            ),
          )
          for (const [path, router] of Object.entries(around))
            app = app.use(router.get(path, definition, handler as never))
          const { fetch } = await open(app)
          for (const [kind, make] of Object.entries(KINDS))
            for (const [index, value] of [values.good, values.bad].entries())
              for (const path of Object.keys(around)) {
                let calls = 0
                subject = () => {
                  calls++
                  return make(value)
                }
                const response = await fetch(path, { headers: bearer('ada') })
                const { status } = response
                const got = status < 400 ? `${status} ${await response.text()}` : String(status)
                expect([got, calls], `${kind}, ${path}`).to.deep.equal([responses[index], 1])
              }
        })
  })
})

describe('A value whose prototype cannot be read', () => {
  const refuse = (): never => {
    throw new Error('This object has no prototype.')
  }
  const unreadable = new Proxy({}, { getPrototypeOf: refuse })
  const handlers: readonly Handler[] = [() => unreadable, () => Promise.resolve(unreadable)]
  throughBothAdapters((open) => {
    it('is a 500, returned and awaited, inside middleware too', async () => {
      for (const handler of handlers)
        for (const router of [createRouter(), createRouter().use((_ctx, next) => next())]) {
          const app = createApp({ logger: false }).use(router.get('/', handler as never))
          expect((await (await open(app)).fetch('/')).status).to.equal(500)
        }
    })
  })
})
