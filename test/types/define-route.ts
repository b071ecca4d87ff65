import {
  type Context,
  type TypedApp,
  type UploadedFile,
  type User,
  defineRoute,
  file,
  routesFor,
} from 'mortar'
import { queryBoolean } from '../../src/schema/yup/query-boolean.ts'
import { array, number, object, string } from 'yup'
import { z } from 'zod'
import { type Equal, expectType } from './expect-type.ts'

const params = object({ id: string().required() })
const body = object({
  title: string().required(),
  tags: array(string().required()).required(),
  age: number(),
})

defineRoute({ params, body, auth: true }, (ctx) => {
  expectType<Equal<typeof ctx.params, { id: string }>>()
  expectType<Equal<typeof ctx.body, { title: string; tags: string[]; age?: number }>>()
  expectType<Equal<typeof ctx.user, User>>()
  expectType<Equal<typeof ctx.query, Context['query']>>()
  expectType<Equal<typeof ctx.status, number>>()
})

defineRoute({}, (ctx) => {
  expectType<Equal<typeof ctx.params, Readonly<Record<string, string>>>>()
  expectType<Equal<typeof ctx.body, unknown>>()
  expectType<Equal<typeof ctx.user, User | null>>()
  expectType<Equal<typeof ctx.db, unknown>>()
})

defineRoute(
  { body: object({ one: file().required(), maybe: file(), all: array(file().required()) }) },
  (ctx) => {
    expectType<Equal<typeof ctx.body.one, UploadedFile>>()
    expectType<Equal<typeof ctx.body.maybe, UploadedFile | undefined>>()
    expectType<Equal<typeof ctx.body.all, UploadedFile[] | undefined>>()
  },
)

defineRoute({ auth: false }, (ctx) => {
  expectType<Equal<typeof ctx.user, User | null>>()
})

defineRoute({ auth: 'admin' }, (ctx) => {
  expectType<Equal<typeof ctx.user, User>>()
})

defineRoute({ auth: ['admin', 'self'] }, (ctx) => {
  expectType<Equal<typeof ctx.user, User>>()
})

defineRoute({ query: object({ done: queryBoolean() }) }, (ctx) => {
  expectType<Equal<typeof ctx.query.done, boolean | undefined>>()
})

defineRoute({ body: z.object({ qty: z.number() }), query: z.object({ page: z.coerce.number() }) }, (ctx) => {
  expectType<Equal<typeof ctx.body, { qty: number }>>()
  expectType<Equal<typeof ctx.query, { page: number }>>()
})

defineRoute({ response: { 200: object({ id: string().required() }) } }, () => ({ id: 'a' }))

// @ts-expect-error a schema is a yup schema or a Standard Schema
defineRoute({ body: { title: 'string' } }, () => ({}))

// @ts-expect-error a guard is a boolean, a name or names
defineRoute({ auth: 1 }, () => ({}))

// @ts-expect-error the handler itself, not the result of calling it
defineRoute({}, Promise.resolve('text'))

interface Database {
  find(): string[]
}
declare const app: TypedApp<{ db: Database }, { notes: { list(): number[] } }>
const route = routesFor<typeof app>()

route({ params, auth: true }, (ctx) => {
  expectType<Equal<typeof ctx.db, Database>>()
  expectType<Equal<typeof ctx.params, { id: string }>>()
  expectType<Equal<typeof ctx.user, User>>()
  const list = ctx.services.notes.list()
  expectType<Equal<typeof list, number[]>>()
  // @ts-expect-error no brick adds this member
  void ctx.mail
  // @ts-expect-error inputs are not written
  ctx.params = { id: 'b' }
})
