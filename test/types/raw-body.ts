import { createApp, createRouter, defineRoute, routesFor, sendFile, sse } from 'mortar'
import { number, object } from 'yup'
import { type Equal, expectType } from './expect-type.ts'

const body = object({ n: number().required() })

defineRoute({ rawBody: true, body }, (ctx) => {
  expectType<Equal<typeof ctx.rawBody, Buffer>>()
  expectType<Equal<typeof ctx.body.n, number>>()
})

defineRoute({ body }, (ctx) => {
  expectType<Equal<typeof ctx.rawBody, unknown>>()
})

createRouter().post('/', { rawBody: true }, (ctx) => ctx.rawBody.length)

const app = createApp()
const route = routesFor<typeof app>()
route({ rawBody: true }, (ctx) => ctx.rawBody.length)
// @ts-expect-error the route does not keep the bytes
route({}, (ctx) => ctx.rawBody.length)
route({}, (ctx) => sendFile(ctx, '/file', { maxAge: '1h' }))
route({ auth: true }, (ctx) => sse(ctx, [{ event: 'a', data: ctx.user.id }]))
// @ts-expect-error an unknown field of an event
route({}, (ctx) => sse(ctx, [{ evnt: 'a' }]))
