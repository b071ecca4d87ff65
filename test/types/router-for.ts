import { type TypedApp, type User, createRouter, routerFor } from 'mortar'
import { object, string } from 'yup'
import { type Equal, expectType } from './expect-type.ts'

declare const app: TypedApp<{ db: { find(): string[] } }, { limit: number }>

const router = routerFor<typeof app>({ prefix: '/notes', auth: true })

const chained = router
  .get('/', (ctx) => {
    expectType<Equal<typeof ctx.db, { find(): string[] }>>()
    expectType<Equal<typeof ctx.services.limit, number>>()
    expectType<Equal<typeof ctx.params, {}>>()
    return ctx.db.find()
  })
  .post('/', { body: object({ title: string().required() }), auth: true }, (ctx) => {
    expectType<Equal<typeof ctx.body, { title: string }>>()
    expectType<Equal<typeof ctx.user, User>>()
    // @ts-expect-error no brick adds this member
    return ctx.mail
  })
  .use(async (ctx, next) => {
    expectType<Equal<typeof ctx.user, User | null>>()
    return next()
  })
  .use(createRouter())
expectType<Equal<typeof chained, typeof router>>()

createRouter().get('/', (ctx) => {
  expectType<Equal<typeof ctx.db, unknown>>()
})

// @ts-expect-error a route has a handler
createRouter().get('/')

// @ts-expect-error a router has no such option
createRouter({ perfix: '/notes' })
