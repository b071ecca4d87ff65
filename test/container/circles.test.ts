import { expect } from 'chai'
import { aliasTo, asClass, asFunction, asValue } from 'awilix'
import { createApp, createRouter, scoped, singleton, transient, type Cradle } from 'mortar'

type Services = Parameters<ReturnType<typeof createApp>['provide']>[0]

/** Returns the response of a request that reads the service `a`. */
const read = async (services: Services): Promise<{ status: number; detail: string }> => {
  const app = createApp({ logger: false, signals: false })
    .provide(services)
    .use(createRouter().get('/', (ctx) => ({ detail: String(ctx.services['a']) })))
  const response = await app.inject('/')
  await app.close()
  return { status: response.statusCode, detail: response.json().detail }
}

class Repo {
  readonly rows: readonly string[] = []
}

describe('A scoped service of the framework', () => {
  it('that depends on a transient of awilix is an error of the request, also through another service', async () => {
    const direct = await read({ a: scoped(({ repo }: Cradle) => repo), repo: asClass(Repo) })
    expect(direct.status).to.equal(500)
    expect(direct.detail).to.include('a → repo')
    const through = await read({
      a: scoped(({ between }: Cradle) => between),
      between: transient(({ repo }: Cradle) => repo),
      repo: asClass(Repo),
    })
    expect(through.detail).to.include('a → between → repo')
  })

  it('may depend on services that are leak-safe or have a longer lifetime', async () => {
    const { detail } = await read({
      a: scoped(({ repo, pool, other, alias }: Cradle) => [repo, pool, other, alias].length),
      repo: asClass(Repo, { isLeakSafe: true }),
      pool: asClass(Repo).singleton(),
      other: transient(({ bare }: Cradle) => [bare] as unknown),
      bare: asClass(Repo).scoped(),
      alias: aliasTo('pool'),
    })
    expect(detail).to.equal('4')
    // A transient may depend on another one.
    expect(await read({ a: transient(({ b }: Cradle) => b), b: asFunction(() => 1) })).to.include({
      detail: '1',
    })
  })
})

describe('A circle of services of a request', () => {
  const circle = {
    a: scoped((services: Cradle) => services['b']),
    b: scoped(({ c }: Cradle) => c),
    c: transient(({ a }: Cradle) => a),
  }

  it('is an error of the request that names the path', async () => {
    const message = 'Services depend on each other in a circle: a → b → c → a.'
    for (const others of [{}, { other: asFunction(() => 1).scoped() }, { constant: asValue(1) }]) {
      const { status, detail } = await read({ ...circle, ...others })
      expect(status).to.equal(500)
      expect(detail).to.include(message)
    }
  })

  it('of one service is found', async () => {
    expect((await read({ a: scoped(({ a }: Cradle) => a) })).detail).to.include('a → a')
  })

  it('is not assumed where a factory fails twice', async () => {
    const failing = (): never => {
      throw new Error('no connection')
    }
    for (const other of [{}, { other: asFunction(() => 1).scoped() }]) {
      const a = scoped((all: Cradle) => {
        expect(() => all['b']).to.throw('no connection')
        return all['b']
      })
      const { detail } = await read({ a, b: scoped(failing), ...other })
      expect(detail).to.include('no connection').and.not.include('circle')
    }
  })

  it('is not assumed where a service reads a transient twice', async () => {
    let made = 0
    const services = {
      a: transient((all: Cradle) => `${String(all['b'])} ${String(all['b'])}`),
      b: transient(() => ++made),
    }
    expect((await read(services)).detail).to.equal('1 2')
  })

  it('is not assumed where a singleton has the same name', async () => {
    const { detail } = await read({ a: scoped(({ b }: Cradle) => b), b: singleton(() => 1) })
    expect(detail).to.equal('1')
  })
})
