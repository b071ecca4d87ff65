import type Koa from 'koa'
import type { KoaContext } from '../context/context.ts'
import { showToKoa } from '../context/koa-context.ts'
import type { Door } from '../context/request-context.ts'
import { loadKoa } from '../support/lazy-koa.ts'

/** Serves one request of a Koa application through the pipeline. */
export type KoaServe = (koa: KoaContext, door: Door) => Promise<void>

/**
 * A real Koa application with the pipeline as its last middleware, so that Koa middleware added with `app.koa.use` runs
 * in front of it, and `callback()` or `koa-mount` serve the same routes anywhere Koa can.
 */
export function createKoaDoor(serve: KoaServe): Koa {
  const KoaApplication = loadKoa()
  const koa = new KoaApplication()
  koa.use((context) => serve(context, koaDoor(context)))
  koa.use = function useBeforePipeline(middleware: Koa.Middleware) {
    if (typeof middleware !== 'function') throw new TypeError('app.koa.use takes a Koa middleware function.')
    koa.middleware.splice(-1, 0, middleware)
    return koa
  } as Koa['use']
  return koa
}

/** Leaves the response on the Koa context, where the middleware around it and Koa itself look for it. */
function koaDoor(koa: KoaContext): Door {
  return {
    send(ctx, outgoing) {
      if (ctx.internal.id !== undefined) koa.set('X-Request-Id', ctx.internal.id)
      if (outgoing.payload === null) koa.remove('Content-Type')
      showToKoa(ctx, koa, outgoing)
    },
  }
}
