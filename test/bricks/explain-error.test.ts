import { Readable } from 'node:stream'
import { expect } from 'chai'
import { type AnyBrick, createApp, createRouter, fromKoa, NotFound, ServiceUnavailable } from 'mortar'
import { loggerTo } from '../app/recorder.ts'

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

  for (const [what, thrown] of [
    ['name', oddError('name')],
    ['cause of an AbortError', oddError('cause', 'AbortError')],
  ] as const)
    it(`responds with 500 to an error of which the getter for the ${what} throws`, async () => {
      for (const middleware of [false, true])
        expect((await responseTo(thrown, middleware)).statusCode).to.equal(500)
    })

  it('survives odd errors of streams, and functions that throw themselves', async () => {
    const messages: unknown[] = []
    const logger = loggerTo((_level, [, message]) => void messages.push(message))
    const app = createApp({ environment: 'production', logger, signals: false }).use({
      name: 'clumsy',
      explainError: (error) => {
        throw error
      },
    })
    const errors = [oddError('name'), oddError('cause', 'AbortError'), new Error('The disk has failed')]
    const router = createRouter()
    router.get('/:which', ({ params }) => failing(errors[Number(params.which)]))
    const { url } = await app.use(router).listen(0)
    try {
      for (const which of errors.keys()) {
        const cut = await fetch(`${url}/${which}`)
          .then((response) => response.text())
          .catch((error: unknown) => error)
        expect(cut).to.be.an('error')
      }
      expect(messages.filter((each) => each === 'The body of a response failed')).to.have.length(3)
    } finally {
      await app.close()
    }
  })

  it('leaves other errors as they are', async () => {
    expect((await responseTo(new Error('no'))).statusCode).to.equal(500)
    expect((await responseTo(new ServiceUnavailable())).headers).to.not.have.property('retry-after')
  })
})

/** An error with a getter that throws. */
function oddError(key: string, name = 'Error'): Error {
  const error = Object.assign(new Error('odd'), { name })
  // The stack is made with the name when it is first read, which streams of Node do.
  expect(error.stack).to.be.a('string')
  const get = () => {
    throw new Error(`The getter for the ${key} has failed`)
  }
  return Object.defineProperty(error, key, { get })
}

/** A stream of bytes. The `pipeline` of Node, which a stream of objects takes, reads the name of an error too. */
function failing(error: Error | undefined): Readable {
  return new Readable({
    read() {
      this.push('a')
      setImmediate(() => this.destroy(error))
    },
  })
}
