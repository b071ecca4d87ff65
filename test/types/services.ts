import { aliasTo, asClass, asFunction, asValue, Lifetime } from 'awilix'
import {
  createApp,
  defineBrick,
  defineConfig,
  routesFor,
  scoped,
  servicesFor,
  singleton,
  transient,
  value,
  type App,
  type Cradle,
  type Logger,
  type ServicesFor,
  type User,
} from 'mortar'
import { type Equal, expectType } from './expect-type.ts'

class Database {
  query(): number {
    return 1
  }
}

const database = defineBrick({
  name: 'database',
  services: {
    db: asClass(Database)
      .singleton()
      .disposer((db) => db.query()),
    url: asValue('sqlite:'),
    rows: asFunction(() => [1], { lifetime: Lifetime.SCOPED }),
  },
  members: {
    db: ({ db }) => db,
    // In a brick the names of other bricks are not known.
    other: ({ other }) => other as string,
  },
})
const configured = createApp(defineConfig({ bricks: [database] }))
const chained = createApp().use(database)

// awilix's registrations type the services and, through them, members and routes.
const app = configured.provide({
  store: asClass(Database, { lifetime: Lifetime.SCOPED }),
  make: asFunction(({ db }: ServicesFor<typeof configured>) => db.query()).scoped(),
  alias: aliasTo<Database>('db'),
  limit: asValue(5),
})
expectType<Equal<typeof app.services.db, Database>>()
expectType<Equal<typeof app.services.url, 'sqlite:'>>()
expectType<Equal<typeof app.services.rows, number[]>>()
expectType<Equal<typeof app.services.store, Database>>()
expectType<Equal<typeof app.services.make, number>>()
expectType<Equal<typeof app.services.alias, Database>>()
expectType<Equal<typeof app.services.limit, 5>>()
expectType<Equal<typeof app.container.cradle.store, Database>>()
routesFor<typeof app>()({}, (ctx) => {
  expectType<Equal<typeof ctx.db, Database>>()
  expectType<Equal<typeof ctx.services.rows, number[]>>()
})
// An untyped application is still accepted where any application is.
const anyApp: App = app
expectType<Equal<typeof anyApp.services.logger, Logger>>()

// A factory sees only the services that were registered before, with their types.
chained.provide({
  ok: scoped(({ db, user, logger }) => {
    expectType<Equal<typeof db, Database>>()
    expectType<Equal<typeof user, User | null>>()
    expectType<Equal<typeof logger, Logger>>()
    return db
  }),
  one: singleton(({ db }) => db.query(), { dispose: (n) => expectType<Equal<typeof n, number>>() }),
})
// @ts-expect-error a misspelt service in a chain
chained.provide({ bad: scoped(({ dbb }) => dbb as unknown) })
// @ts-expect-error a misspelt service after defineConfig
configured.provide({ bad: singleton(({ dbb }) => dbb as unknown) })
// @ts-expect-error a misspelt service read from the whole cradle
configured.provide({ bad: transient((services) => services.dbb as unknown) })
// @ts-expect-error a member that the service does not have
configured.provide({ bad: scoped(({ db }) => db.nope() as unknown) })
// @ts-expect-error a misspelt service in a replacement
chained.override({ db: singleton(({ dbb }) => dbb as unknown) })
chained.override({ db: value({ query: () => 2 }), url: asValue('x') })
// With this annotation a factory may require services that are registered later.
chained.provide({ later: scoped(({ report }: Cradle) => report) })
// @ts-expect-error a factory without a registration around it
chained.provide({ bare: () => 1 })
// @ts-expect-error a disposer for something else
chained.provide({ bad: singleton(() => 1, { dispose: (it: string) => it }) })

// Services in a module of their own.
const { scoped: appScoped, singleton: appSingleton } = servicesFor<typeof app>()
const own = {
  a: appScoped(({ db, user }) => [db.query(), user?.id] as const),
  b: appSingleton(({ limit }) => limit, { dispose: (n) => expectType<Equal<typeof n, 5>>() }),
}
const extended = app.provide(own)
expectType<Equal<typeof extended.services.a, readonly [number, string | undefined]>>()
expectType<Equal<typeof extended.services.b, 5>>()
// @ts-expect-error a service that the application does not have
appScoped(({ dbb }) => dbb as unknown)
// @ts-expect-error a singleton cannot require the user of a request
appSingleton(({ user }) => user as unknown)
