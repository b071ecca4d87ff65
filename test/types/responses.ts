import { Readable } from 'node:stream'
import { type Context, type TypedApp, createRouter, defineRoute, reply, routerFor, routesFor } from 'mortar'
import { array, date, mixed, number, object, string } from 'yup'
import { z } from 'zod'
import { type Equal, expectType } from './expect-type.ts'

const note = object({
  id: string().required(),
  kind: string()
    .oneOf(['a', 'b'] as const)
    .required(),
  at: date().required(),
  text: string(),
  tags: array(string().required()).required(),
})
const good = { id: '1', kind: 'a', at: new Date(), tags: ['x'] } as const
const response = { 200: note }

declare const app: TypedApp<{ db: { find(): typeof good } }, { count: number }>
const route = routesFor<typeof app>()
const router = createRouter()
const appRouter = routerFor<typeof app>()

// The value fits the schema, has keys that are dropped, or is a class instance; synchronous or not.
class Entity {
  id = '1'
  kind = 'b' as const
  at = new Date()
  tags: readonly string[] = []
  hash = 'x'
  save(): void {}
}
defineRoute({ response }, () => good)
defineRoute({ response }, () => ({ id: '1', kind: 'a', at: '2026-01-01', tags: [], hash: 'x' }))
defineRoute({ response }, async () => ({ id: '1', kind: 'a', at: new Date(), tags: [], text: undefined }))
defineRoute({ response }, async (ctx) => (ctx.method ? new Entity() : good))
defineRoute({ response: { 200: array(note).required() } }, () => [new Entity(), good])
route({ response }, (ctx) => ctx.db.find())
router.get('/', { response }, () => good)
appRouter.get('/', { response }, (ctx) => ctx.db.find())
defineRoute({ response }, () => {
  throw new Error('never')
})

// A wrong value, in each of the three forms.
// @ts-expect-error a string is not a note
defineRoute({ response }, () => 'nonsense')
// @ts-expect-error the same in a route of an application
route({ response }, () => 'nonsense')
// @ts-expect-error the same in a router
router.get('/', { response }, () => 'nonsense')
// @ts-expect-error the same in a router of an application
appRouter.get('/', { response }, () => 'nonsense')
// @ts-expect-error a required key is missing
defineRoute({ response }, () => ({ id: '1', kind: 'a', at: new Date() }))
// @ts-expect-error a wrong type inside
defineRoute({ response }, async () => ({ ...good, tags: [1] }))
// @ts-expect-error a value that the schema does not list
defineRoute({ response }, () => ({ ...good, kind: 'c' }))
// @ts-expect-error one note is not a list
defineRoute({ response: { 200: array(note).required() } }, () => good)
// @ts-expect-error a wrong value on one of the paths
defineRoute({ response }, (ctx) => {
  if (ctx.ip) return { ...good, id: 1 }
  return good
})

// A forgotten return.
// @ts-expect-error nothing is returned
defineRoute({ response }, () => {
  good.at.getTime()
})
// @ts-expect-error nothing is returned
route({ response }, async (ctx) => {
  await Promise.resolve(ctx.db.find())
})
// @ts-expect-error nothing is returned
router.get('/', { response }, (ctx) => {
  ctx.set('X-A', 'b')
})
// @ts-expect-error nothing is returned on one of the paths
defineRoute({ response }, async (ctx) => {
  if (ctx.ip) return
  return good
})

// A status without a body.
defineRoute({ response: { 204: {} } }, () => {})
defineRoute({ response: { 204: { description: 'Gone.' }, 404: note } }, async () => null)
defineRoute({ response: { 200: note, 204: {} } }, (ctx) => (ctx.ip ? good : undefined))
// @ts-expect-error no body is declared
defineRoute({ response: { 204: {} } }, () => good)

// Media types, bytes and streams.
async function* rows(): AsyncGenerator<string> {
  yield 'a;b'
}
defineRoute({ response: { 200: { type: 'text/csv' } } }, () => 'a;b')
defineRoute({ response: { 200: { type: 'text/csv' } } }, () => rows())
defineRoute({ response: { 200: { type: 'text/csv', schema: string().required() } } }, () =>
  Readable.from(['a']),
)
defineRoute({ response: { 200: { type: 'application/hal+json', schema: note } } }, () => good)
defineRoute({ response: { 200: { type: 'application/json' } } }, () => ({ any: 1 }))
defineRoute({ response: { 200: { description: 'Anything.' } } }, () => [1])
defineRoute({ response }, () => Buffer.from('x'))
defineRoute({ response }, async () => new Response('x'))
defineRoute({ response }, () => new Blob(['x']))
defineRoute({ response }, () => new Response('x').body!)
// @ts-expect-error an object is not CSV
defineRoute({ response: { 200: { type: 'text/csv' } } }, () => ({ a: 1 }))
// @ts-expect-error nothing is returned
defineRoute({ response: { 200: { description: 'Anything.' } } }, () => {})
// @ts-expect-error the schema of a JSON type is checked
defineRoute({ response: { 200: { type: 'application/json', schema: note } } }, () => ({ id: '1' }))

// Without a declared success every value is allowed.
defineRoute({}, () => 'anything')
defineRoute({ response: { 404: note } }, () => 'anything')
defineRoute({ response: { 200: mixed().required() } }, () => ({ any: 1 }))
router.get('/', () => undefined)

// Other libraries validate the returned value, so their input type is expected.
const account = z.object({ id: z.string(), role: z.string().default('user'), since: z.date().optional() })
defineRoute({ response: { 200: account } }, () => ({ id: '1' }))
// @ts-expect-error a number is not a string
defineRoute({ response: { 200: account } }, () => ({ id: 1 }))

// By status: only declared success statuses are set, and `reply` checks the body of one status.
const byStatus = {
  200: note,
  201: object({ id: string().required() }),
  204: {},
  409: object({ of: number().required() }),
}
defineRoute({ response: byStatus }, (ctx) => {
  ctx.status = 201
  ctx.status = 404
  expectType<Equal<typeof ctx.status, number>>()
  // @ts-expect-error a success status that is not declared
  ctx.status = 202
  if (ctx.ip === 'a') return reply(ctx, 409, { of: 1 })
  if (ctx.ip === 'b') return reply(ctx, 204)
  if (ctx.ip === 'c') return reply(ctx, 200, Buffer.from('x'))
  if (ctx.ip === 'd') return ctx.redirect('/there')
  // @ts-expect-error the body of another status
  if (ctx.ip === 'e') return reply(ctx, 200, { id: '1' })
  // @ts-expect-error a status that is not declared
  if (ctx.ip === 'f') return reply(ctx, 404, { of: 1 })
  // @ts-expect-error the body is missing
  if (ctx.ip === 'g') return reply(ctx, 201)
  return reply(ctx, 200, { id: '1', kind: 'a', at: new Date(), tags: [] })
})
// @ts-expect-error the body of an error is returned by `reply`
defineRoute({ response: byStatus }, () => ({ of: 1 }))
route({ response: byStatus }, async (ctx) => reply(ctx, 200, ctx.db.find()))
router.get('/', { response: byStatus }, (ctx) => reply(ctx, 201, { id: 'a' }))
appRouter.get('/', { response: byStatus }, (ctx) => reply(ctx, 409, { of: 1 }))
// @ts-expect-error without declared responses there is nothing to check
defineRoute({}, (ctx) => reply(ctx, 201, good))
// Without a declared success status any status may be set.
defineRoute({}, (ctx) => void (ctx.status = 299))

// A `ctx` with declared responses is still a context.
const describe = (ctx: Context): string => ctx.path
defineRoute({ response: { 200: string().required() } }, (ctx) => describe(ctx))

// Query builders are promises of their own kind.
declare const query: PromiseLike<typeof good>
defineRoute({ response }, () => query)
// @ts-expect-error one note is not a list
defineRoute({ response: { 200: array(note).required() } }, () => query)
