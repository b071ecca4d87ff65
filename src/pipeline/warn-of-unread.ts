import type { RequestContext } from '../context/request-context.ts'
import { describeRoute, type Route } from '../routing/route.ts'

/**
 * Makes the warning, once per route, of a body that the framework cannot read, where the route declares neither `body`
 * nor `consumes`: `ctx.body` is then undefined.
 */
export function warnOfUnread(route: Route): (ctx: RequestContext, type: string) => void {
  let isDue = true
  return (ctx, type) => {
    if (!isDue) return
    isDue = false
    const found = type === '' ? 'without Content-Type' : `of the media type '${type}'`
    ctx.log.warn(
      `${describeRoute(route)} got a body ${found}, which is not read, so ctx.body is undefined. Send it as ` +
        'application/json. If the route reads no body, or reads ctx.koa.req itself, declare `consumes: []`.',
    )
  }
}
