import { StartupError } from '../errors/startup-error.ts'
import type { KoaRouter } from '../routing/koa-router-layers.ts'
import { parsePattern, type Segment } from '../routing/path-pattern.ts'

interface NestingRouter extends KoaRouter {
  use(path: string, middleware: unknown): unknown
}

type KoaRouterClass = new (options: object) => NestingRouter

/**
 * Nests a router below a prefix as @koa/router does, so that `ctx.params`, `ctx._matchedRoute` and `ctx.router.url()`
 * include the prefix. The given router is not changed; without a prefix it is returned itself.
 * @throws StartupError for a prefix that @koa/router cannot match.
 */
export function nestKoaRouter(router: KoaRouter, prefix: string): KoaRouter {
  if (prefix === '/') return router
  const Class = router.constructor as unknown as KoaRouterClass
  const outer = new Class({ ...router.opts, prefix: '' })
  outer.use(koaPrefix(prefix), router.routes())
  return outer
}

function koaPrefix(prefix: string): string {
  const parts = parsePattern(prefix, 'a router of @koa/router').map((segment) => koaSegment(segment, prefix))
  return `/${parts.join('/')}`
}

function koaSegment(segment: Segment, prefix: string): string {
  if (segment.kind === 'static') return segment.value.replaceAll(/[{}()[\]+?!:*\\]/g, String.raw`\$&`)
  if (segment.kind === 'param' && /^\w+$/.test(segment.name)) return `:${segment.name}`
  throw new StartupError(`A router of @koa/router cannot be mounted below '${prefix}'.`, {
    code: 'MORTAR_KOA_ROUTER',
    remedy: "Use parameters of letters, digits and '_' in the prefix, and no catch-all.",
  })
}
