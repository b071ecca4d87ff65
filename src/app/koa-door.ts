import Koa, { type Middleware } from 'koa'
import { showToKoa } from '../context/koa-context.ts'
import type { Door } from '../context/door.ts'
import type { KoaContext } from '../context/context.ts'

/** Serves one request of a Koa application through the pipeline. */
export type KoaServe = (koa: KoaContext, door: Door) => Promise<void>

/**
 * A real Koa application with the pipeline as its last middleware, so that Koa middleware added with `app.koa.use` runs
 * in front of it, and `callback()` or `koa-mount` serve the same routes anywhere Koa can.
 */
export function createKoaDoor(serve: KoaServe): Koa {
  const koa = new PipelineKoa()
  koa.middleware.push(
    ((context: KoaContext) =>
      new Promise<void>((resolve, reject) => {
        const door: Door = {
          send(ctx, outgoing) {
            if (ctx.internal.id !== undefined) context.set('X-Request-Id', ctx.internal.id)
            if (outgoing.payload === null) context.remove('Content-Type')
            showToKoa(ctx, context, outgoing)
            resolve()
          },
        }
        serve(context, door).then(() => resolve(), reject)
      })) as unknown as Middleware,
  )
  return koa
}

/** Keeps the pipeline last, whatever is used later. */
class PipelineKoa extends Koa {
  override use(middleware: never): never {
    if (typeof middleware !== 'function') throw new TypeError('app.koa.use takes a Koa middleware function.')
    this.middleware.splice(-1, 0, middleware)
    return this as never
  }
}
