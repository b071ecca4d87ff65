import { expect } from 'chai'
import { type AnyBrick, createApp, createRouter, fromKoa, NotFound, ServiceUnavailable } from 'mortar'

class StoreIsAway extends Error {}

const store: AnyBrick = {
  name: 'store',
  explainError: (error) =>
    error instanceof StoreIsAway ? new ServiceUnavailable('Try later.', { retryAfter: 2 }) : undefined,
}

describe("the slot 'explainError'", () => {
  async function responseTo(thrown: unknown, middleware = false) {
    const app = createApp({ environment: 'production', logger: false }).use(store)
    const fail = () => {
      throw thrown
    }
    const router = createRouter()
    router.get('/', middleware ? () => 'never' : fail)
    if (middleware) app.use({ name: 'failing', middleware: [fail] })
    app.use(router)
    return app.inject({ method: 'GET', url: '/' })
  }

  for (const place of ['handler', 'middleware'])
    it(`turns an error of a ${place} into a response`, async () => {
      const response = await responseTo(new StoreIsAway('at 10.0.0.1'), place === 'middleware')
      expect(response.statusCode).to.equal(503)
      expect(response.headers['retry-after']).to.equal('2')
      expect(response.json()).to.include({ code: 'service_unavailable', detail: 'Try later.' })
    })

  it('gets no error that has a status already', async () => {
    const app = createApp({ environment: 'production', logger: false })
      .use({ name: 'eager', explainError: () => new ServiceUnavailable() })
      .use(
        createRouter().get('/', () => {
          throw new NotFound('No such note.')
        }),
      )
    const response = await app.inject({ method: 'GET', url: '/' })
    expect([response.statusCode, response.json().detail]).to.deep.equal([404, 'No such note.'])
  })

  it('gives middleware the status that is sent', async () => {
    const seen: number[] = []
    const app = createApp({ environment: 'production', logger: false }).use(store)
    app.use({
      name: 'watching',
      middleware: [
        async (ctx, next) => {
          try {
            return await next()
          } finally {
            seen.push(ctx.status)
          }
        },
        fromKoa(async (ctx, next) => {
          try {
            await next()
          } finally {
            seen.push(ctx.status)
          }
        }),
      ],
    })
    const router = createRouter()
    router.get('/', () => {
      throw new StoreIsAway('at 10.0.0.1')
    })
    await app.use(router).inject({ method: 'GET', url: '/' })
    expect(seen).to.deep.equal([503, 503])
  })

  it('leaves other errors as they are', async () => {
    expect((await responseTo(new Error('no'))).statusCode).to.equal(500)
    expect((await responseTo(new ServiceUnavailable())).headers).to.not.have.property('retry-after')
  })
})
