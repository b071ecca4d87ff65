import {
  aliasTo,
  asClass,
  asFunction,
  asValue,
  createContainer,
  InjectionMode,
  Lifetime,
  RESOLVER,
} from 'awilix'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  defineBrick,
  scoped,
  singleton,
  StartupError,
  value,
  type AnyRegistration,
} from 'mortar'

// Registrations in this file are written as the documentation of awilix writes them.

type Given = Readonly<Record<string, AnyRegistration>>

const appOf = (services: Given, read: (services: Record<string, unknown>) => unknown = () => 1) =>
  createApp({ logger: false })
    .provide(services)
    .use(createRouter().get('/', (ctx) => read(ctx.services) as object))

/** The JSON of `GET /`, and the application closed. */
async function answerOf(app: ReturnType<typeof appOf>): Promise<unknown> {
  const response = await app.inject('/')
  await app.close()
  return response.json() as unknown
}

async function startupError(app: { ready(): Promise<unknown> }): Promise<StartupError> {
  const error: unknown = await app.ready().then(
    () => new Error('The application started.'),
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(StartupError)
  return error as StartupError
}

class Database {
  readonly connection: string
  readonly timeout: number
  constructor(connectionString: string, timeout: number) {
    this.connection = connectionString
    this.timeout = timeout
  }
}

class Store {
  readonly logger: unknown
  constructor({ logger }: { readonly logger: unknown }) {
    this.logger = logger
  }
}

class UserController {
  readonly userService: { readonly find: () => string }
  constructor(opts: { readonly userService: { readonly find: () => string } }) {
    this.userService = opts.userService
  }
}

describe("awilix's own registrations", () => {
  it('wire the application of its README: classes, functions and values, PROXY beside CLASSIC', async () => {
    const app = appOf(
      {
        userController: asClass(UserController),
        userService: asFunction(({ db }: { db: Database }) => ({ find: () => db.connection })),
        db: asClass(Database).classic(),
        connectionString: asValue('memory'),
        timeout: asValue(1000),
      },
      ({ userController }) => [(userController as UserController).userService.find()],
    )
    expect(await answerOf(app)).to.deep.equal(['memory'])
  })

  const LIFETIMES = {
    singleton: [
      asFunction(counter, { lifetime: Lifetime.SINGLETON }),
      asFunction(counter).setLifetime(Lifetime.SINGLETON),
      asFunction(counter).singleton(),
    ],
    scoped: [
      asFunction(counter, { lifetime: Lifetime.SCOPED }),
      asFunction(counter).setLifetime(Lifetime.SCOPED),
      asFunction(counter).scoped(),
    ],
    transient: [
      asFunction(counter),
      asFunction(counter, { lifetime: Lifetime.TRANSIENT }),
      asFunction(counter).scoped().transient(),
    ],
  }
  const EXPECTED = { singleton: [true, true], scoped: [true, false], transient: [false, false] }
  for (const [lifetime, spellings] of Object.entries(LIFETIMES))
    it(`have the lifetime ${lifetime}, in every spelling`, async () => {
      for (const resolver of spellings) {
        const seen: unknown[] = []
        const app = appOf({ it: resolver }, (services) => seen.push(services['it'], services['it']))
        await app.inject('/')
        await app.inject('/')
        await app.close()
        const pairs = [seen[0] === seen[1], seen[1] === seen[2]]
        expect(pairs).to.deep.equal(EXPECTED[lifetime as keyof typeof EXPECTED])
      }
    })

  it('take the injection mode from the class, an option or the chain, and parse what CLASSIC names', async () => {
    class Service {
      static readonly [RESOLVER] = { lifetime: Lifetime.SCOPED, injectionMode: InjectionMode.CLASSIC }
      readonly repository: string
      constructor(repository: string) {
        this.repository = repository
      }
    }
    const pair = (repository: string, requestId: string) => [repository, typeof requestId]
    const app = appOf(
      {
        service: asClass(Service),
        byOption: asFunction(pair, { injectionMode: InjectionMode.CLASSIC }),
        byChain: asFunction(pair).setInjectionMode(InjectionMode.CLASSIC).scoped(),
        repository: asValue('rows'),
      },
      ({ service, byOption, byChain }) => [(service as Service).repository, byOption, byChain],
    )
    expect(await answerOf(app)).to.deep.equal(['rows', ['rows', 'string'], ['rows', 'string']])
  })

  it('keep local injections, isLeakSafe and aliases', async () => {
    const withTimeout = ({ db, timeout }: { db: string; timeout: number }) => `${db} ${timeout}`
    const classic = (db: string, timeout: number) => `${db} ${timeout}`
    const app = appOf(
      {
        db: asValue('db'),
        fluid: asFunction(withTimeout).inject(() => ({ timeout: 1 })),
        option: asFunction(withTimeout, { injector: () => ({ timeout: 2 }) }),
        parsed: asFunction(classic)
          .classic()
          .scoped()
          .inject(() => ({ timeout: 3 })),
        kept: asFunction(() => 'kept', { isLeakSafe: true }),
        keeper: asFunction(({ kept }: { kept: string }) => kept).singleton(),
        alias: aliasTo('keeper'),
        aliasOfScoped: aliasTo('parsed'),
      },
      ({ fluid, option, parsed, alias, aliasOfScoped }) => [fluid, option, parsed, alias, aliasOfScoped],
    )
    expect(await answerOf(app)).to.deep.equal(['db 1', 'db 2', 'db 3', 'kept', 'db 3'])
  })

  it('reach ctx, user and requestId when scoped, and services of bricks by name', async () => {
    const brick = defineBrick({
      name: 'store',
      services: {
        store: asClass(Store).singleton(),
        path: asFunction(({ ctx }: { ctx: { path: string } }) => ctx.path).scoped(),
      },
      members: { place: ({ path }): unknown => path },
    })
    const app = createApp({ logger: false })
      .use(brick)
      .provide({
        who: asFunction(({ store, user, requestId }) => [
          store instanceof Store,
          user as unknown,
          requestId as unknown,
        ]).scoped(),
        native: scoped(({ path }) => [path]),
      })
      .use(createRouter().get('/at', (ctx) => [ctx.services['who'], ctx['place'], ctx.services['native']]))
    const response = await app.inject({ url: '/at', headers: { 'x-request-id': 'abc' } })
    expect(response.json()).to.deep.equal([[true, null, 'abc'], '/at', ['/at']])
    await app.close()
  })

  it('replace a service by app.override', async () => {
    const app = appOf({ clock2: singleton(() => 'real') }, ({ clock2 }) => [clock2])
    app.override({ clock2: asValue('fake') })
    expect(await answerOf(app)).to.deep.equal(['fake'])
  })

  it('make no scope in a request that reads singletons and values only', async () => {
    const app = appOf(
      { a: asValue(1), b: asFunction(() => 2).singleton(), c: asFunction(() => 3).scoped() },
      ({ a, b }) => [a, b],
    )
    await app.ready()
    let scopes = 0
    const { createScope } = app.container
    app.container.createScope = () => {
      scopes += 1
      return createScope()
    }
    expect((await app.inject('/')).json()).to.deep.equal([1, 2])
    expect(scopes).to.equal(0)
    await app.close()
  })
})

describe('A faulty awilix registration', () => {
  it('is a StartupError with the path when a singleton requires a service with a shorter lifetime', async () => {
    const read = ({ b }: { b: unknown }) => b
    for (const b of [asFunction(() => 1).scoped(), asFunction(() => 1), scoped(() => 1)]) {
      const error = await startupError(appOf({ a: asFunction(read).singleton(), b }))
      expect(error.code).to.equal('MORTAR_SERVICE_LIFETIME')
      expect(error.message).to.contain('a → b')
    }
    const classic = (user: unknown) => user
    const byUser = await startupError(appOf({ a: asFunction(classic).classic().singleton() }))
    expect(byUser.message).to.contain('a → user')
    const native = await startupError(appOf({ a: singleton(read as never), b: asFunction(() => 1).scoped() }))
    expect(native.message).to.contain('a → b')
  })

  it('is reported in the request when a scoped service keeps a transient, or services form a circle', async () => {
    const read = ({ b }: { b: unknown }) => b
    const leak = await appOf({ a: asFunction(read).scoped(), b: asFunction(() => 1) }, ({ a }) => a).inject(
      '/',
    )
    expect(leak.statusCode).to.equal(500)
    expect(leak.json().detail).to.contain('a → b')
    const circle = await appOf(
      { a: asFunction(read).scoped(), b: scoped(({ a }: Record<string, unknown>) => a) },
      ({ a }) => a,
    ).inject('/')
    expect(circle.json().detail).to.contain('Services depend on each other in a circle: a → b → a.')
    const missing = await appOf({ a: asFunction((loger: unknown) => loger).classic() }, ({ a }) => a).inject(
      '/',
    )
    expect(missing.json().detail).to.contain('a → loger').and.to.contain("Did you mean 'logger'?")
  })

  it('is a StartupError when a singleton misses a service, or singletons form a circle', async () => {
    const missing = await startupError(
      appOf({ a: asFunction((loger: unknown) => loger, { injectionMode: 'CLASSIC' }).singleton() }),
    )
    expect(missing.code).to.equal('MORTAR_SERVICE_MISSING')
    expect(missing.message).to.contain("Did you mean 'logger'?")
    const circle = await startupError(
      appOf({
        a: asFunction((b: unknown) => b)
          .classic()
          .singleton(),
        b: asFunction(({ a }: { a: unknown }) => a).singleton(),
      }),
    )
    expect(circle.code).to.equal('MORTAR_SERVICE_CIRCULAR')
  })

  const SHAPES: readonly (readonly [string, unknown, string, string])[] = [
    ['a bare class', Database, 'MORTAR_SERVICE_SHAPE', 'is not a registration'],
    ['a resolver without resolve', { lifetime: 'SCOPED' }, 'MORTAR_SERVICE_SHAPE', 'is not a registration'],
    ['null', null, 'MORTAR_SERVICE_SHAPE', 'is not a registration'],
    [
      'an unknown lifetime',
      asFunction(counter, { lifetime: 'singleton' as never }),
      'MORTAR_SERVICE_SHAPE',
      "unknown lifetime 'singleton'",
    ],
    [
      'an unknown injection mode',
      asFunction(counter, { injectionMode: 'classic' as never }),
      'MORTAR_SERVICE_SHAPE',
      "unknown injection mode 'classic'",
    ],
    [
      'a disposer that is not a function',
      asFunction(counter, { lifetime: 'SCOPED', dispose: 'end' as never }),
      'MORTAR_SERVICE_SHAPE',
      "'dispose' that is not a function",
    ],
    [
      'a transient with a disposer',
      asFunction(counter).disposer(() => undefined),
      'MORTAR_SERVICE_DISPOSER',
      'transients are not stored',
    ],
  ]
  for (const [name, given, code, text] of SHAPES)
    it(`is rejected at the start: ${name}`, async () => {
      const error = await startupError(appOf({ it: given as never }))
      expect(error.code).to.equal(code)
      expect(error.message).to.contain("'it'").and.to.contain(text)
    })
})

describe('app.container', () => {
  it('is the awilix container: registrations, resolve, cradle, scopes', async () => {
    const app = createApp({ logger: false }).provide({
      one: asValue(1),
      two: asFunction(() => ({})).singleton(),
    })
    await app.ready()
    const { container } = app
    expect(container.resolve('one')).to.equal(1)
    expect(container.cradle.two).to.equal(app.services.two)
    expect(container.hasRegistration('two')).to.equal(true)
    expect(container.hasRegistration('three')).to.equal(false)
    expect(container.registrations['two']?.lifetime).to.equal('SINGLETON')
    expect(container.options).to.include({ injectionMode: 'PROXY', strict: true })
    expect(container.createScope().resolve('one')).to.equal(1)
    expect(container.build(({ one }: { one: number }) => one + 1)).to.equal(2)
    expect(Object.keys(createContainer())).to.satisfy((keys: string[]) =>
      keys.every((key) => key in container),
    )
    await app.close()
  })

  it('accepts registrations until the start, with the checks of app.provide', async () => {
    const app = createApp({ logger: false }).use(
      createRouter().get('/', ({ services }) => [services['late']]),
    )
    app.container.register({ late: asFunction(({ requestId }) => requestId as unknown).scoped() })
    app.container.register('late', asFunction(() => 'last').scoped())
    expect(() => app.container.register('ctx', asValue(1))).to.throw(StartupError, 'MORTAR_SERVICE_RESERVED')
    expect(() => app.container.register('logger', asValue(1))).to.throw(
      StartupError,
      'MORTAR_SERVICE_DUPLICATE',
    )
    expect(() => app.container.register('x', Database as never)).to.throw(
      StartupError,
      'MORTAR_SERVICE_SHAPE',
    )
    expect(() => app.container.register(Symbol('s'), asValue(1))).to.throw(StartupError, 'Symbol(s)')
    expect((await app.inject('/')).json()).to.deep.equal(['last'])
    expect(() => app.container.register('y', asValue(1))).to.throw(StartupError, 'MORTAR_TOO_LATE')
    await app.close()
  })

  it('names both sides when a brick registers the same service', async () => {
    const app = createApp({ logger: false }).use(defineBrick({ name: 'b', services: { one: value(1) } }))
    app.container.register('one', asValue(2))
    const error = await startupError(app)
    expect(error.message).to.contain('app.container.register').and.to.contain("brick 'b'")
  })
})

describe('ctx.scope', () => {
  it('is an awilix scope in which a request registers services of its own', async () => {
    const app = createApp({ logger: false })
      .provide({
        messages: asFunction(({ currentUser }) => `for ${currentUser as string}`).scoped(),
        plain: scoped(({ requestId }) => ({ id: requestId })),
        shared: singleton(() => 'shared'),
      })
      .use(
        createRouter()
          .get('/own', (ctx) => ctx.services['shared'])
          .use((ctx, next) => {
            // Other requests have the application's own.
            if (ctx.path === '/own') ctx.scope.register({ shared: asValue('own') })
            ctx.scope.register({ currentUser: asValue(ctx.id) })
            return next()
          })
          .get('/', (ctx) => [
            ctx.services['messages'] === `for ${ctx.id}`,
            ctx.services['currentUser'] === ctx.id,
            ctx.scope.resolve('plain') === ctx.services['plain'],
            ctx.scope.cradle['requestId'] === ctx.id,
            ctx.scope.has('plain'),
            ctx.scope.has('toString'),
            ctx.scope.createScope().resolve('requestId') === ctx.id,
            ctx.services['shared'] === 'shared',
          ]),
      )
    expect((await app.inject('/own')).body).to.equal('own')
    expect((await app.inject('/')).json()).to.deep.equal([true, true, true, true, true, false, true, true])
    await app.close()
  })

  it('shares the services that the request made before it was read', async () => {
    const app = createApp({ logger: false })
      .provide({ one: scoped(() => ({})) })
      .use(
        createRouter().get('/', (ctx) => {
          const before = ctx.services.one
          return [ctx.scope.resolve('one') === before, ctx.services.one === before]
        }),
      )
    expect((await app.inject('/')).json()).to.deep.equal([true, true])
    await app.close()
  })
})

function counter(): object {
  return {}
}
