import {
  createApp,
  createRouter,
  defineBrick,
  defineConfig,
  defineRoute,
  routerFor,
  routesFor,
  scoped,
  singleton,
  value,
  type Infer,
  type Logger,
  type MembersOf,
  type ServicesOf,
  type User,
} from 'mortar'
import { array, boolean, number, object, string } from 'yup'
import { z } from 'zod'
import { expectType, type Equal } from './expect-type.ts'

class Clock {
  now(): number {
    return 0
  }
}

function clockThatSays(logger: Logger): Clock {
  logger.info('made')
  return new Clock()
}

const clock = defineBrick({
  name: 'clock',
  services: { clock: singleton(({ logger }) => clockThatSays(logger)) },
  members: { now: ({ clock: service }) => service.now() },
  start: ({ clock: service }) => service.now(),
})
const store = defineBrick({
  name: 'store',
  services: { store: value(new Map<string, number>()) },
  members: { store: ({ store: map }) => map },
})

// A chain of `use` and a configuration type ctx alike.
const chained = createApp().use(clock).use(store)
const configured = createApp(defineConfig({ bricks: [clock, store], environment: 'test' }))
expectType<Equal<MembersOf<typeof chained>['now'], number>>()
expectType<Equal<MembersOf<typeof configured>['now'], number>>()
expectType<Equal<keyof MembersOf<typeof chained>, keyof MembersOf<typeof configured>>>()
expectType<Equal<MembersOf<typeof configured>['store'], Map<string, number>>>()
expectType<Equal<ServicesOf<typeof configured>['clock'], Clock>>()

// The application's own services see the services that were registered before.
const app = configured.provide({
  report: scoped(({ clock: service, user }) => ({ at: service.now(), by: user?.id ?? null })),
})
expectType<Equal<typeof app.services.report, { at: number; by: string | null }>>()
// @ts-expect-error a service that is not registered
app.services.nothing

// Inputs are typed by their schemas.
const body = object({
  name: string().required(),
  tags: array(string().required()),
  age: number().nullable().default(null),
})
defineRoute(
  {
    params: object({ id: number().required() }),
    query: object({ all: boolean() }),
    body,
    headers: z.object({ 'x-a': z.string() }),
  },
  (ctx) => {
    expectType<Equal<typeof ctx.params.id, number>>()
    expectType<Equal<typeof ctx.query.all, boolean | undefined>>()
    expectType<Equal<typeof ctx.body, Infer<typeof body>>>()
    expectType<Equal<typeof ctx.body.age, number | null>>()
    expectType<Equal<(typeof ctx.headers)['x-a'], string>>()
    expectType<Equal<typeof ctx.user, User | null>>()
    // Members of bricks are unknown without `routesFor`.
    expectType<Equal<(typeof ctx)['now'], unknown>>()
    // @ts-expect-error a key that the schema does not have
    ctx.params.nope
    // @ts-expect-error inputs are read-only
    ctx.body = {}
    ctx.status = 201
  },
)

// `auth` makes the user certain, except `false`.
defineRoute({ auth: true }, (ctx) => expectType<Equal<typeof ctx.user, User>>())
defineRoute({ auth: 'admin' }, (ctx) => expectType<Equal<typeof ctx.user, User>>())
defineRoute({ auth: ['admin', 'self'] }, (ctx) => expectType<Equal<typeof ctx.user, User>>())
defineRoute({ auth: false }, (ctx) => expectType<Equal<typeof ctx.user, User | null>>())

// Without a schema: raw text, and a body that is unknown.
defineRoute({}, (ctx) => {
  const { id } = ctx.params
  expectType<Equal<typeof id, string | undefined>>()
  expectType<Equal<typeof ctx.body, unknown>>()
})

// @ts-expect-error a key of a definition that does not exist
defineRoute({ policy: 'admin' }, () => 1)
// @ts-expect-error a mistyped key beside one that exists
defineRoute({ auth: true, querry: object({}) }, () => 1)
// @ts-expect-error and in a router
createRouter().get('/', { auth: true, policy: 'admin' }, () => 1)
// @ts-expect-error a value that is not a schema
defineRoute({ body: { name: 'string' } }, () => 1)

// The typed forms know members and services; any other name is an error.
const route = routesFor<typeof app>()
route({ auth: true, body }, (ctx) => {
  expectType<Equal<typeof ctx.now, number>>()
  expectType<Equal<typeof ctx.store, Map<string, number>>>()
  expectType<Equal<typeof ctx.services.report.at, number>>()
  expectType<Equal<typeof ctx.services.clock, Clock>>()
  expectType<Equal<typeof ctx.services.logger, Logger>>()
  expectType<Equal<typeof ctx.user, User>>()
  expectType<Equal<typeof ctx.body.name, string>>()
  // @ts-expect-error no brick adds it
  ctx.mail
})

routerFor<typeof app>({ prefix: '/typed' })
  .get('/', (ctx) => expectType<Equal<typeof ctx.now, number>>())
  .post('/:id', { body, auth: true }, (ctx) => {
    expectType<Equal<typeof ctx.body.name, string>>()
    expectType<Equal<typeof ctx.user, User>>()
  })

createRouter().get('/:id', { params: object({ id: number().required() }) }, (ctx) =>
  expectType<Equal<typeof ctx.params.id, number>>(),
)

// A guarded router makes the user non-null, except in a route with `auth: false`.
createRouter({ auth: true })
  .get('/', (ctx) => expectType<Equal<typeof ctx.user, User>>())
  .get('/open', { auth: false }, (ctx) => expectType<Equal<typeof ctx.user, User | null>>())
  .post('/', { body }, (ctx) => expectType<Equal<typeof ctx.user, User>>())
createRouter({ auth: false }).get('/', (ctx) => expectType<Equal<typeof ctx.user, User | null>>())
routerFor<typeof app>({ auth: ['admin'] }).get('/', (ctx) => {
  expectType<Equal<typeof ctx.user, User>>()
  expectType<Equal<typeof ctx.now, number>>()
})

// @ts-expect-error a brick is not middleware and has a name
createApp().use({ services: {} })
