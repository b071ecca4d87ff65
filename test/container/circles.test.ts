import { expect } from 'chai'
import { aliasTo, asClass, asFunction } from 'awilix'
import { createApp, createRouter, scoped, singleton, StartupError, transient, type Cradle } from 'mortar'

type Services = Parameters<ReturnType<typeof createApp>['provide']>[0]

const startWith = async (services: Services): Promise<unknown> => {
  const app = createApp({ logger: false, signals: false }).provide(services)
  try {
    await app.ready()
    return undefined
  } catch (error) {
    return error
  } finally {
    await app.close()
  }
}

const refusal = async (services: Services): Promise<StartupError> => {
  const error = await startWith(services)
  expect(error).to.be.instanceOf(StartupError)
  return error as StartupError
}

class Repo {
  readonly rows: readonly string[] = []
}

describe('A scoped service of the framework', () => {
  it('that depends on a transient of awilix is a StartupError, also through another service', async () => {
    const { code, message } = await refusal({
      notes: scoped(({ repo }: Cradle) => [repo] as unknown),
      repo: asClass(Repo),
    })
    expect(code).to.equal('MORTAR_SERVICE_LIFETIME')
    expect(message).to.include('notes → repo (registered by app.provide)').and.to.include('asClass()')
    const between = await refusal({
      between: transient(({ repo }: Cradle) => [repo] as unknown),
      repo: asClass(Repo),
      notes: scoped(({ between: inner }: Cradle) => [inner] as unknown),
    })
    expect(between.message).to.include('notes → between → repo')
  })

  it('may depend on services that are leak-safe or have a longer lifetime', async () => {
    const error = await startWith({
      notes: scoped(({ repo, pool, other, alias }: Cradle) => [repo, pool, other, alias] as unknown),
      repo: asClass(Repo, { isLeakSafe: true }),
      pool: asClass(Repo).singleton(),
      other: transient(({ bare }: Cradle) => [bare] as unknown),
      bare: asClass(Repo).scoped(),
      alias: aliasTo('pool'),
    })
    expect(error).to.equal(undefined)
    // A transient may depend on another one.
    expect(
      await startWith({ a: transient(({ b }: Cradle) => [b] as unknown), b: asFunction(() => 1) }),
    ).to.equal(undefined)
  })
})

describe('A circle of services of a request', () => {
  it('is a StartupError that names the path', async () => {
    const { code, message } = await refusal({
      a: scoped(({ b }: Cradle) => [b] as unknown),
      b: scoped(({ c }: Cradle) => [c] as unknown),
      c: scoped(({ b }: Cradle) => [b] as unknown),
    })
    expect(code).to.equal('MORTAR_SERVICE_CIRCULAR')
    expect(message).to.match(/^Services depend on each other in a circle: b → c → b\.\n/)
  })

  it('is found in each form of a factory', async () => {
    const first = scoped(({ b }: Cradle) => b)
    const forms: readonly ((services: Cradle) => unknown)[] = [
      ({ a }) => a,
      ({ logger, a: other = null }) => [logger, other] as unknown,
      async ({ a, ...rest }) => [a, rest] as unknown,
      function ({ a }) {
        return a
      },
      async function named({ a: inner }) {
        return Promise.resolve(inner)
      },
      {
        make({ a }: Cradle) {
          return a
        },
      }.make,
    ]
    for (const form of forms) {
      expect((await refusal({ a: first, b: scoped(form) })).message, String(form)).to.include('a → b → a')
      expect((await refusal({ a: first, b: transient(form) })).message, String(form)).to.include('a → b → a')
    }
  })

  it('of one service is found', async () => {
    expect((await refusal({ a: scoped(({ a }: Cradle) => a) })).message).to.include('a → a')
  })

  it('is not suspected where a factory may read no service of the circle', async () => {
    const innocent: readonly ((services: Cradle) => unknown)[] = [
      () => 1,
      (services) => () => services['a'],
      ({ logger: a }) => a,
      ({ other: a }) => a,
      ({ other = { a: [1, '}, a'] } }) => other,
      (...all) => all.length,
    ]
    for (const form of innocent) {
      const services = { a: scoped(({ b }: Cradle) => b), b: scoped(form) }
      expect(await startWith(services), String(form)).to.equal(undefined)
    }
  })

  it('is reported in the request where the start cannot see it', async () => {
    const app = createApp({ logger: false, signals: false })
      .provide({
        a: scoped((services: Cradle) => services['b']),
        b: scoped(({ a }: Cradle) => a),
      })
      .use(createRouter().get('/', (ctx) => ctx.services['a']))
    const response = await app.inject('/')
    expect(response.json().detail).to.equal('Services depend on each other in a circle: a → b → a.')
    await app.close()
  })

  it('is left alone among services that awilix makes, and beside singletons', async () => {
    const services = {
      a: asFunction(({ b }: Cradle) => b).scoped(),
      b: singleton(() => 1),
      c: scoped(({ a, b }: Cradle) => [a, b] as unknown),
    }
    expect(await startWith(services)).to.equal(undefined)
  })
})
