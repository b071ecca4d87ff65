import { createApp, createRouter, env, fromKoaRouter } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as authSchema from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { Books, books } from './books.ts'

/** The part that has moved: bricks, a route of its own, and the Koa router `books` behind a guard. */
export const app = createApp()
  .use(
    database({
      type: 'better-sqlite3',
      database: ':memory:',
      entities: { ...authSchema, Books },
      synchronize: true,
    }),
  )
  .use(auth(basicAuth({ secret: env.secret('AUTH_SECRET') })))
  .use(createRouter({ tags: ['status'] }).get('/status', () => ({ fine: true })))
  .use(fromKoaRouter(books, { auth: true, tags: ['books'], consumes: ['application/json'] }))
