import { randomUUID } from 'node:crypto'

/** The third middleware of workload f, for every server that Koa middleware runs on. */
export async function requestId(ctx, next) {
  ctx.set('X-Request-Id', ctx.get('X-Request-Id') || randomUUID())
  await next()
}
