import {
  type Authenticator,
  type TypedApp,
  type User,
  createApp,
  createRouter,
  defineRoute,
  routerFor,
  routesFor,
} from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { authUsers } from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { object } from 'yup'
import { type Equal, expectType } from './expect-type.ts'

interface Columns {
  readonly role: string
}
declare const app: TypedApp<{}, { authenticator: Authenticator<'admin' | 'self', User<Columns>> }>
const route = routesFor<typeof app>()

route({ auth: 'admin' }, (ctx) => {
  expectType<Equal<typeof ctx.user, User<Columns>>>()
  return ctx.user.raw.role
})
route({ auth: ['admin', 'self'] }, (ctx) => ctx.user.raw.role)
route({ auth: true }, (ctx) => {
  // @ts-expect-error a column that is not declared
  return ctx.user.raw.roll
})
route({}, (ctx) => {
  expectType<Equal<typeof ctx.user, User<Columns> | null>>()
})
// @ts-expect-error a policy that the application does not have
route({ auth: 'nobody' }, () => 1)
// @ts-expect-error one of the names is not a policy
route({ auth: ['admin', 'nobody'] }, () => 1)

const router = routerFor<typeof app>({ auth: 'self' })
router.get('/', { auth: 'admin' }, (ctx) => ctx.user.raw.role)
// @ts-expect-error a policy that the application does not have
router.get('/', { auth: 'nobody' }, () => 1)
// @ts-expect-error a policy that the application does not have
routerFor<typeof app>({ auth: 'nobody' })

// Without the types of an application, and without the type of its authenticator, a policy is any name.
defineRoute({ auth: 'anything' }, (ctx) => expectType<Equal<typeof ctx.user, User>>())
createRouter({ auth: 'anything' }).get('/', { auth: ['any', 'other'] }, () => 1)
declare const untyped: TypedApp<{}, { count: number }>
routesFor<typeof untyped>()({ auth: 'anything' }, (ctx) => ctx.services.count)

// Parameters of the path.
createRouter({ prefix: '/users/:user' })
  .get('/notes/:note', (ctx) => {
    expectType<Equal<typeof ctx.params, { readonly user: string; readonly note: string }>>()
    // @ts-expect-error a parameter that the path does not have
    return ctx.params.nota
  })
  .get('/files/*path', { response: {} }, (ctx) => ctx.params.path.length)
createRouter().get('/', (ctx) => {
  // @ts-expect-error the path has no parameters
  return ctx.params.id
})
routerFor<typeof app, '/users/:user'>({ prefix: '/users/:user' }).get('/', (ctx) => ctx.params.user)
routerFor<typeof app>({ prefix: '/notes' }).get('/:id', { auth: true }, (ctx) => {
  expectType<Equal<typeof ctx.params, { readonly id: string }>>()
})
declare const path: string
createRouter().get(`${path}/:id`, (ctx) => {
  expectType<Equal<typeof ctx.params, Readonly<Record<string, string>>>>()
})

// A key that a definition does not have.
// @ts-expect-error a misspelt key
defineRoute({ querry: object({}) }, () => 1)
// @ts-expect-error a misspelt key beside another
route({ auth: true, querry: object({}) }, () => 1)
// @ts-expect-error a key in capitals
createRouter().get('/', { Auth: true, summary: 'x' }, () => 1)

// A user with declared columns is still a user.
const nameOf = (user: User): string => user.name ?? user.id
route({ auth: true }, (ctx) => nameOf(ctx.user))

// The bricks of the package declare policies and columns.
const AuthUsers = authUsers<{ role: string; since: Date | null }>({ role: { type: String } })
const signedIn = createApp()
  .use(database({ type: 'better-sqlite3', database: ':memory:', entities: [AuthUsers] }))
  .use(
    auth(basicAuth<typeof AuthUsers>({ secret: 'secret' }), {
      policies: {
        admin: (user) => user.raw.role === 'admin',
        self: (user, ctx) => ctx.params['id'] === user.id,
      },
    }),
  )
const signedInRoute = routesFor<typeof signedIn>()
signedInRoute({ auth: ['admin', 'self'] }, (ctx) => {
  expectType<Equal<typeof ctx.user.raw.role, string>>()
  expectType<Equal<typeof ctx.user.raw.since, string | null>>()
  expectType<Equal<typeof ctx.user.raw.created_at, string>>()
  // @ts-expect-error a column that never leaves the server
  return ctx.user.raw.password_hash
})
// @ts-expect-error a policy that is not an option of the brick
signedInRoute({ auth: 'nobody' }, () => 1)
auth(basicAuth<typeof AuthUsers>({ secret: 'secret' }), {
  // @ts-expect-error a column that the entity does not have
  policies: { admin: (user) => user.raw.roll === 'a' },
})

// Without policies there is no name to write, and without the entity a column is unknown.
const plain = createApp().use(auth(basicAuth({ secret: 'secret' })))
routesFor<typeof plain>()({ auth: true }, (ctx) => {
  expectType<Equal<(typeof ctx.user.raw)['role'], unknown>>()
})
// @ts-expect-error the brick has no policies
routesFor<typeof plain>()({ auth: 'admin' }, () => 1)
