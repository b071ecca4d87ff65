import { Router } from '@koa/router'
import Koa from 'koa'
import mount from 'koa-mount'
import { app } from './app.ts'

const pages = new Router()

pages.get('/', (ctx) => {
  ctx.type = 'html'
  ctx.body = '<h1>Books</h1><p><a href="/api/docs">API</a></p>'
})

/** The existing Koa application, with its own router. Mortar serves everything below `/api`. */
export const site = new Koa()

site.use(async (ctx, next) => {
  await next()
  ctx.set('X-Served-By', 'site')
})
site.use(pages.routes()).use(pages.allowedMethods())
site.use(mount('/api', app.koa))
