import { expect } from 'chai'
import { createApp, createRouter, StartupError } from 'mortar'

const HERE = /duplicate-routes\.test\.ts:(\d+):\d+/g

/** Starts an application with the routers. */
const refusalOf = async (...routers: readonly ReturnType<typeof createRouter>[]): Promise<StartupError> => {
  const app = createApp({ logger: false })
  try {
    for (const router of routers) app.use(router)
    await app.inject({ method: 'GET', url: '/' })
  } catch (error) {
    expect(error).to.be.instanceOf(StartupError)
    return error as StartupError
  } finally {
    await app.close()
  }
  throw new Error('not refused')
}

const linesIn = (message: string): number[] => [...message.matchAll(HERE)].map(([, line]) => Number(line))

describe('A route in code that conflicts with another one', () => {
  it('is named with the file and the line of both', async () => {
    const router = createRouter().get('/a', () => 1)
    router.get('/a', () => 2)
    const { message, code } = await refusalOf(router)
    const [first, second] = linesIn(message)
    expect(code).to.equal('MORTAR_ROUTE_DUPLICATE')
    expect(message).to.match(/^GET \/a is declared twice: in router \/ \(\S+:\d+:\d+\) and in router \/ \(\S+:\d+:\d+\)\./)
    expect(second).to.equal(first! + 1)
    expect(message).to.include('Remove one of the two')
  }) // prettier-ignore

  it('is named with both lines if a parameter has two names, or the case differs', async () => {
    const one = createRouter().get('/:id', () => 1)
    const other = createRouter().get('/:name/x', () => 1)
    expect(linesIn((await refusalOf(one, other)).message)).to.have.length(2)
    const upper = createRouter().get('/Users', () => 1)
    const lower = createRouter().get('/users', () => 1)
    expect(linesIn((await refusalOf(upper, lower)).message)).to.have.length(2)
  })

  it('is a router that was mounted twice, if both lines are the same', async () => {
    const router = createRouter().get('/a', () => 1)
    const { message } = await refusalOf(router, router)
    expect(message).to.include('mount a router once per prefix')
  })

  it('leaves the stack trace limit of the process as it is', () => {
    const { stackTraceLimit } = Error
    createRouter().get('/a', () => 1)
    expect(Error.stackTraceLimit).to.equal(stackTraceLimit)
  })
})
