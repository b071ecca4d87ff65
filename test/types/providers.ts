import type { Db } from 'mongodb'
import { betterAuth } from 'better-auth'
import { createApp, routesFor, type User } from 'mortar'
import { auth } from '@mortar/auth'
import { documentAuth } from '@mortar/auth-document'
import { clerk, hostedAuth } from '@mortar/auth-hosted'
import { libraryAuth, type AuthLibrary } from '@mortar/auth-library'
import { expectType, type Equal } from './expect-type.ts'

declare const db: Db
const secret = 'a secret'

// documentAuth: the fields that are its option, as JSON, and those of the framework.
const documents = createApp().use(
  auth(documentAuth({ secret, db, userFields: { role: 'user', since: new Date(0) } }), {
    policies: {
      admin: (user) => user.raw.role === 'admin',
      // @ts-expect-error a field that is not an option
      other: (user) => user.raw.roll === 'admin',
    },
  }),
)
routesFor<typeof documents>()({ auth: 'admin' }, ({ user }) => {
  expectType<Equal<typeof user.raw.role, string>>()
  expectType<Equal<typeof user.raw.since, string>>()
  expectType<Equal<typeof user.raw.email, string>>()
  expectType<Equal<typeof user.raw.created_at, string | null>>()
  // @ts-expect-error a field that never leaves the database
  return user.raw.password_hash
})
interface Fields {
  readonly team: string | null
}
const teams = createApp().use(auth(documentAuth<Fields>({ secret, db, userFields: { team: null } })))
routesFor<typeof teams>()({ auth: true }, ({ user }) =>
  expectType<Equal<typeof user.raw.team, string | null>>(),
)
// @ts-expect-error a field of the type is missing
documentAuth<Fields>({ secret, db, userFields: {} })

// hostedAuth: claims as a type parameter, or the result of `toUser`.
interface Claims {
  readonly sub: string
  readonly org_id?: string
}
const claimed = createApp().use(
  auth(hostedAuth<Claims>(clerk({ frontendApi: 'https://a.example', authorizedParties: [] })), {
    policies: { member: (user) => user.raw.org_id === 'o' },
  }),
)
routesFor<typeof claimed>()({ auth: 'member' }, ({ user }) => {
  expectType<Equal<typeof user.raw.org_id, string | undefined>>()
  // @ts-expect-error a claim that is not declared
  return user.raw.org
})
const converted = createApp().use(
  auth(
    hostedAuth({
      issuer: 'https://a.example',
      audience: 'a',
      toUser: ({ sub }) => ({ id: String(sub), raw: { seats: 3 } }),
    }),
  ),
)
routesFor<typeof converted>()({ auth: true }, ({ user }) =>
  expectType<Equal<typeof user.raw.seats, number>>(),
)
const unknownClaims = createApp().use(auth(hostedAuth({ issuer: 'https://a.example', audience: 'a' })))
routesFor<typeof unknownClaims>()({ auth: true }, ({ user }) => {
  expectType<Equal<(typeof user.raw)['anything'], unknown>>()
})

// libraryAuth: the user of the library, or the result of `toUser`.
interface Member {
  readonly id: string
  readonly plan: 'free' | 'paid'
}
declare const library: AuthLibrary & {
  readonly api: { getSession(input: { headers: Headers }): Promise<{ user: Member } | null> }
}
const members = createApp().use(
  auth(libraryAuth(library), { policies: { paid: (user) => user.raw.plan === 'paid' } }),
)
routesFor<typeof members>()({ auth: 'paid' }, ({ user }) => {
  expectType<Equal<typeof user.raw.plan, 'free' | 'paid'>>()
  // @ts-expect-error a key that the library's user does not have
  return user.raw.plans
})
const converting = createApp().use(
  auth(libraryAuth(library, { toUser: ({ id, plan }) => ({ id, raw: { isPaid: plan === 'paid' } }) })),
)
routesFor<typeof converting>()({ auth: true }, ({ user }) =>
  expectType<Equal<typeof user.raw.isPaid, boolean>>(),
)
declare const untyped: AuthLibrary
const plain = createApp().use(auth(libraryAuth(untyped)))
routesFor<typeof plain>()({ auth: true }, ({ user }) => {
  expectType<Equal<(typeof user.raw)['anything'], unknown>>()
})
const better = betterAuth({ user: { additionalFields: { seat: { type: 'number', required: true } } } })
const seats = createApp().use(auth(libraryAuth(better)))
routesFor<typeof seats>()({ auth: true }, ({ user }) => {
  expectType<Equal<typeof user.raw.seat, number>>()
  expectType<Equal<typeof user.raw.createdAt, Date>>()
})

// A typed user is still a user.
const nameOf = (user: User): string => user.name ?? user.id
routesFor<typeof members>()({ auth: true }, (ctx) => nameOf(ctx.user))
