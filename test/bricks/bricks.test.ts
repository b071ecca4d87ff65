import { expect } from 'chai'
import * as fc from 'fast-check'
import {
  createApp,
  createRouter,
  defineBrick,
  scoped,
  singleton,
  StartupError,
  transient,
  value,
  type AnyBrick,
  type AnyRegistration,
  type AnyServices,
  type Logger,
} from 'mortar'
import { requireInProduction } from 'mortar/kit'
import { seedFor } from '../support/seed.ts'

/** A brick that writes its start and stop into a list. */
function recorded(name: string, log: string[], more: Partial<AnyBrick> = {}): AnyBrick {
  return {
    name,
    start: () => void log.push(`start ${name}`),
    stop: () => void log.push(`stop ${name}`),
    ...more,
  }
}

async function startupError(app: { ready(): Promise<unknown> }): Promise<StartupError> {
  const error: unknown = await app.ready().then(
    () => new Error('The application started.'),
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(StartupError)
  return error as StartupError
}

const appWith = (bricks: readonly AnyBrick[]) => createApp({ bricks })

describe('Bricks', () => {
  it('start after what they require and stop in reverse', async () => {
    const log: string[] = []
    const app = appWith([
      recorded('c', log, { requires: ['b'] }),
      recorded('a', log),
      recorded('b', log, { requires: ['a'] }),
    ])
    await app.ready()
    await app.close()
    expect(log).to.deep.equal(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a'])
  })

  it('may require a service instead of a brick', async () => {
    const log: string[] = []
    const services = { store: value(1) }
    const app = appWith([
      recorded('user', log, { requires: ['store'] }),
      // Of its own too, such as one that another brick may provide in its place.
      recorded('keeper', log, { services, requires: ['store'] }),
    ])
    await app.ready()
    await app.close()
    expect(log[0]).to.equal('start keeper')
  })

  it('start in an order that random requirements allow, and stop in exactly the reverse', async () => {
    const graph = fc
      .integer({ min: 1, max: 12 })
      .chain((size) =>
        fc
          .array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 20 })
          .map((edges) => ({ size, edges })),
      )
    await fc.assert(
      fc.asyncProperty(graph, fc.infiniteStream(fc.nat()), async ({ size, edges }, dice) => {
        const log: string[] = []
        // An edge from the higher to the lower number can make no circle.
        const needs = (n: number) =>
          edges.filter(([a, b]) => Math.max(a, b) === n && a !== b).map(([a, b]) => `${Math.min(a, b)}`)
        const bricks = Array.from({ length: size }, (_, n) => recorded(`${n}`, log, { requires: needs(n) }))
        const app = appWith(bricks.toSorted(() => (dice.next().value! % 2 === 0 ? 1 : -1)))
        await app.ready()
        await app.close()
        const starts = log.filter((line) => line.startsWith('start')).map((line) => line.slice(6))
        for (const brick of bricks)
          for (const needed of brick.requires ?? [])
            expect(starts.indexOf(needed)).to.be.lessThan(starts.indexOf(brick.name))
        expect(log.slice(size).map((line) => line.slice(5))).to.deep.equal(starts.toReversed())
      }),
      { numRuns: 100, seed: seedFor('bricks order') },
    )
  })

  it('are stopped in reverse when a later one fails to start', async () => {
    const log: string[] = []
    const failing = recorded('c', log, {
      requires: ['b'],
      start: () => {
        throw new Error('no connection')
      },
    })
    const app = appWith([recorded('a', log), recorded('b', log, { requires: ['a'] }), failing])
    const error = await startupError(app)
    expect(error.message).to.contain("The brick 'c' failed to start: no connection")
    expect(error.brick).to.equal('c')
    expect(log).to.deep.equal(['start a', 'start b', 'stop b', 'stop a'])
    await app.close()
    expect(log).to.have.length(4)
  })

  it('all stop even if one of them fails to stop or exceeds its time', async () => {
    const log: string[] = []
    const app = createApp({
      shutdownTimeout: 0.02,
      bricks: [
        recorded('a', log),
        recorded('b', log, { stop: () => Promise.reject(new Error('stuck')) }),
        recorded('c', log, { stop: neverSettles }),
      ],
    })
    await app.ready()
    await app.close()
    expect(log.at(-1)).to.equal('stop a')
  })

  it('are refused when two have one name, one is missing or they need each other', async () => {
    const twice = await startupError(appWith([recorded('mail', []), recorded('mail', [])]))
    expect(twice).to.include({ code: 'MORTAR_BRICK_DUPLICATE', brick: 'mail' })
    const missing = await startupError(
      appWith([recorded('auth', [], { requires: ['databse'] }), recorded('database', [])]),
    )
    expect(missing).to.include({ code: 'MORTAR_BRICK_MISSING', brick: 'auth' })
    expect(missing.message).to.contain("Did you mean 'database'?")
    const service = await startupError(appWith([recorded('webhooks', [], { requires: ['jobQueue'] })]))
    expect(service.message).to.contain("a brick with the name or the service 'jobQueue' beside 'webhooks'")
    const circle = await startupError(
      appWith([
        recorded('a', [], { requires: ['b'] }),
        recorded('b', [], { requires: ['c'] }),
        recorded('c', [], { requires: ['a'] }),
      ]),
    )
    expect(circle.code).to.equal('MORTAR_BRICK_CIRCULAR')
    expect(circle.message).to.contain('a → b → c → a')
  })

  it('are refused after the start', async () => {
    const app = createApp()
    await app.ready()
    expect(() => app.use(recorded('late', []))).to.throw(StartupError, 'MORTAR_TOO_LATE')
    expect(() => app.provide({ late: value(1) })).to.throw(StartupError, 'MORTAR_TOO_LATE')
    await app.close()
  })

  describe('members of ctx', () => {
    it('are computed on first read, once a request, also without a value', async () => {
      let computed = 0
      const nothing = () => void (computed += 1)
      const brick = defineBrick({
        name: 'count',
        members: { count: () => ({ n: (computed += 1) }), nothing },
      })
      const app = createApp()
        .use(brick)
        .use(
          createRouter()
            .get('/none', () => 'x')
            .get('/twice', (ctx) => sameTwice(() => ctx['count']))
            .get('/nothing', (ctx) => sameTwice(() => ctx['nothing'])),
        )
      await app.inject('/none')
      expect(computed).to.equal(0)
      expect((await app.inject('/twice')).json()).to.equal(true)
      expect((await app.inject('/twice')).json()).to.equal(true)
      expect(computed).to.equal(2)
      expect((await app.inject('/nothing')).json()).to.equal(true)
      expect(computed).to.equal(3)
      await app.close()
    })

    it('do not exist in another application', async () => {
      const router = createRouter().get('/', (ctx) => 'count' in ctx)
      const one = createApp()
        .use(defineBrick({ name: 'count', members: { count: () => 1 } }))
        .use(router)
      const other = createApp().use(router)
      expect((await one.inject('/')).json()).to.equal(true)
      expect((await other.inject('/')).json()).to.equal(false)
      await Promise.all([one.close(), other.close()])
    })

    it('are refused when the name is taken or reserved', async () => {
      const member = (name: string, brick: string) =>
        defineBrick({ name: brick, members: { [name]: (): number => 1 } })
      const taken = await startupError(appWith([member('db', 'one'), member('db', 'two')]))
      expect(taken.code).to.equal('MORTAR_MEMBER_TAKEN')
      expect(taken.message).to.contain("'one' and 'two'")
      for (const name of [
        'body',
        'user',
        'params',
        'status',
        'set',
        'koa',
        'state',
        'then',
        'constructor',
        'internal',
        '__proto__',
      ]) {
        const reserved = await startupError(
          appWith([{ name: 'x', members: Object.fromEntries([[name, () => 1]]) }]),
        )
        expect(reserved.code, name).to.equal('MORTAR_MEMBER_RESERVED')
      }
    })
  })
})

describe('Services', () => {
  const answer = (
    services: Readonly<Record<string, AnyRegistration<unknown, AnyServices>>>,
    read: (services: Record<string, unknown>) => unknown,
  ) =>
    createApp()
      .provide(services as never)
      .use(createRouter().get('/', (ctx) => read(ctx.services as Record<string, unknown>) as object))

  it('have the lifetime that they were registered with', async () => {
    let made = 0
    const next = () => ({ n: (made += 1) })
    const app = answer({ one: singleton(next), each: scoped(next), every: transient(next) }, (services) => [
      sameTwice(() => services['one']),
      sameTwice(() => services['each']),
      sameTwice(() => services['every']),
    ])
    expect((await app.inject('/')).json()).to.deep.equal([true, true, false])
    expect((await app.inject('/')).json()).to.deep.equal([true, true, false])
    expect(made).to.equal(1 + 2 + 4)
    await app.close()
  })

  it('of a request may require its ctx, user and id', async () => {
    const app = answer(
      { who: scoped(({ ctx, user, requestId }) => [ctx.path, user, requestId]) },
      (services) => services['who'],
    )
    const response = await app.inject({ url: '/', headers: { 'x-request-id': 'abc' } })
    expect(response.json()).to.deep.equal(['/', null, 'abc'])
    await app.close()
  })

  it('of a request are found by name through its scope', async () => {
    const app = createApp()
      .provide({
        c: scoped(({ d }: AnyServices) => ({ ofD: d })),
        d: transient(({ requestId }) => requestId as unknown),
      })
      .use(
        createRouter()
          .get('/', ({ scope, services, id }) => [
            scope.has('c'),
            scope.has('user'),
            scope.has('x'),
            scope.resolve('c') === services['c'],
            scope.resolve<{ ofD: string }>('c').ofD === id,
          ])
          .get('/unknown', ({ scope }) => scope.resolve('x')),
      )
    expect((await app.inject('/')).json()).to.deep.equal([true, true, false, true, true])
    expect((await app.inject('/unknown')).body).to.contain("No service is named 'x'.")
    await app.close()
  })

  it('make no scope in a request that touches no scoped service', async () => {
    let made = 0
    const app = answer(
      { each: scoped(() => (made += 1)), one: singleton(() => 1) },
      (services) => services['one'],
    )
    await app.inject('/')
    expect(made).to.equal(0)
    await app.close()
  })

  it('are rejected with the path when a singleton requires a service with a shorter lifetime', async () => {
    const direct = await startupError(answer({ a: singleton(({ b }) => b), b: scoped(() => 1) }, () => 1))
    expect(direct.code).to.equal('MORTAR_SERVICE_LIFETIME')
    expect(direct.message).to.contain('a → b')
    const byUser = await startupError(answer({ a: singleton(({ user }) => user as unknown) }, () => 1))
    expect(byUser.message).to.contain('a → user')
    const through = await startupError(
      answer({ a: singleton(({ t }) => t), t: transient(({ ctx }) => ctx as unknown) }, () => 1),
    )
    expect(through.message).to.contain('a → t → ctx')
  })

  it('allow a singleton to keep a transient', async () => {
    const app = answer({ a: singleton(({ t }) => t), t: transient(() => 5) }, (services) => services['a'])
    expect((await app.inject('/')).json()).to.equal(5)
    await app.close()
  })

  it('are refused when missing, circular, twice or reserved', async () => {
    const missing = await startupError(answer({ a: singleton(({ loger }) => loger) }, () => 1))
    expect(missing.code).to.equal('MORTAR_SERVICE_MISSING')
    expect(missing.message).to.contain("Did you mean 'logger'?")
    const circular = await startupError(
      answer({ a: singleton(({ b }) => b), b: singleton(({ a }) => a) }, () => 1),
    )
    expect(circular.code).to.equal('MORTAR_SERVICE_CIRCULAR')
    const brick = defineBrick({ name: 'x', services: { a: value(1) } })
    const twice = await startupError(
      createApp()
        .use(brick)
        .provide({ a: value(2) }),
    )
    expect(twice.message).to.contain('app.provide').and.to.contain("brick 'x'")
    for (const name of ['ctx', 'user', 'requestId', 'constructor', 'then', 'toJSON'])
      expect((await startupError(answer({ [name]: value(1) }, () => 1))).code, name).to.equal(
        'MORTAR_SERVICE_RESERVED',
      )
    expect((await startupError(answer({ logger: value(1) }, () => 1))).code).to.equal(
      'MORTAR_SERVICE_DUPLICATE',
    )
  })

  it('throw when a name is unknown, instead of returning undefined', async () => {
    const app = answer({}, (services) => services['nope'])
    const response = await app.inject('/')
    expect(response.statusCode).to.equal(500)
    expect(response.json().detail).to.contain("No service is named 'nope'")
    await app.close()
  })

  it('say what to do when app.services is read before the start, and name unknown services after it', async () => {
    const app = answer({ late: singleton(() => 5) }, () => 1)
    const services = app.services as unknown as Record<string, unknown>
    expect(() => services['late'])
      .to.throw(StartupError, 'app.services.late was read before the start.')
      .with.property('remedy')
      .that.contains('await app.ready()')
    expect(services['logger']).to.be.an('object')
    await app.ready()
    expect(services['late']).to.equal(5)
    expect(() => services['nope']).to.throw("No service is named 'nope'. Register it with app.provide")
    expect(() => app.services.logger && services['lat']).to.throw("No service is named 'lat'")
    await app.close()
  })

  it('are replaced by app.override before the start, only if they exist', async () => {
    let made = 0
    const brick = defineBrick({ name: 'x', services: { a: singleton(() => (made += 1)) } })
    const app = createApp()
      .use(brick)
      .override({ a: value('fake') })
      .use(createRouter().get('/', (ctx) => (ctx.services as { a: string }).a))
    expect((await app.inject('/')).body).to.equal('fake')
    expect(made).to.equal(0)
    expect(() => app.override({ a: value(1) })).to.throw(StartupError, 'MORTAR_TOO_LATE')
    await app.close()
    const typo = await startupError(
      createApp()
        .use(brick)
        .override({ b: value(1) }),
    )
    expect(typo.code).to.equal('MORTAR_SERVICE_OVERRIDE')
    const broken = singleton(() => {
      throw new Error('no fake')
    })
    const { message } = await startupError(createApp().use(brick).override({ a: broken }))
    expect(message).to.include("The service 'a' of brick 'x' could not be made: no fake")
  })
})

/** True if two reads return the same value. */
function sameTwice(read: () => unknown): boolean {
  const first = read()
  return first === read()
}

function neverSettles(): Promise<never> {
  return new Promise<never>(() => {})
}

describe('A check that production requires', () => {
  it('hides no error that is not about the set-up', async () => {
    const fault = new TypeError('not about the set-up')
    const silent = () => undefined
    const logger: Logger = { debug: silent, info: silent, warn: silent, error: silent, child: () => logger }
    const place = { environment: 'test', logger }
    const check = () => Promise.reject(fault)
    const error: unknown = await requireInProduction(place, 'notes', check).catch((reason: unknown) => reason)
    expect(error).to.equal(fault)
  })
})
