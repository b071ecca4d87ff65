import {
  type Context,
  type Infer,
  type TypedApp,
  type UploadedFile,
  type User,
  defineRoute,
  file,
  routesFor,
} from 'mortar'
import { queryBoolean } from '../../src/schema/yup/query-boolean.ts'
import { array, date, mixed, number, object, string, tuple } from 'yup'
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

// An optional key of a yup object is absent or has a value, at every depth. Items of arrays may be undefined.
class Money {
  readonly #cents = 0
  get cents(): number {
    return this.#cents
  }
}
const deep = object({
  owner: object({ email: string().required(), phone: string() }).required(),
  maybe: object({ note: string().nullable() }).default(undefined),
  lines: array(object({ qty: number(), at: date(), price: mixed<Money>() })).required(),
  words: array(string()).required(),
  pair: tuple([string().required(), object({ size: number() }).required()]),
  scan: file(),
})
defineRoute({ body: deep }, (ctx) => {
  interface Line {
    qty?: number
    at?: Date
    price?: Money
  }
  expectType<Equal<typeof ctx.body, Infer<typeof deep>>>()
  expectType<Equal<typeof ctx.body.owner, { email: string; phone?: string }>>()
  expectType<Equal<Required<typeof ctx.body>['maybe'], { note?: string | null }>>()
  expectType<Equal<typeof ctx.body.words, (string | undefined)[]>>()
  const lines: Line[] = ctx.body.lines
  const pair: [string, { size?: number }] | undefined = ctx.body.pair
  const price: Money | undefined = ctx.body.lines[0]?.price
  const scan: UploadedFile | undefined = ctx.body.scan
  return [lines, pair, price, scan]
})
// A whole body that may be absent is undefined then. The types of other libraries are kept as the library declares them.
expectType<Equal<Infer<ReturnType<typeof optionalBody>>, { a?: string } | undefined>>()
const optionalBody = () => object({ a: string() }).optional().default(undefined)
const ofZod = z.object({ a: z.object({ b: z.string().optional() }) })
expectType<Equal<Infer<typeof ofZod>, { a: { b?: string | undefined } }>>()

// Types of `mixed<T>()` may contain themselves, and a required key of theirs may be undefined.
type Json = string | number | boolean | Json[] | { [key: string]: Json }
type Nested = string | Nested[]
type Chain = [name: string, next: Chain | null]
type Tree = { note?: string; children: Tree[]; pair?: [Tree, string] }
const own = object({
  meta: mixed<Json>().required(),
  nested: mixed<Nested>().required(),
  chain: mixed<Chain>().required(),
  tree: mixed<Tree>().required(),
  period: mixed<{ until: Date | undefined; note?: string | undefined }>().required(),
  dates: mixed<Record<string, Date | undefined>>().required(),
  rows: array(array(object({ size: number() })).required()).required(),
})
defineRoute({ body: own }, (ctx) => {
  const meta: Json = ctx.body.meta
  const nested: Nested = ctx.body.nested
  const chain: Chain = ctx.body.chain
  const tree: Tree = ctx.body.tree
  expectType<Equal<typeof ctx.body.period, { until: Date | undefined; note?: string }>>()
  expectType<Equal<typeof ctx.body.dates, { [x: string]: Date | undefined }>>()
  return [meta, nested, chain, tree, ctx.body.rows[0]?.[0]?.size]
})

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
