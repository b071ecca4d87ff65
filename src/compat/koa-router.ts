/*
 * The parts of a router of @koa/router 15 that `fromKoaRouter` uses: `match()` and `stack`, and of its layers `methods`, `path`
 * and `opts` with `end`, `pathAsRegExp` and `sensitive`. A layer that is read in another way would be a route at another path, so the
 * start fails with a version whose layers differ. test/compat/koa-router.test.ts renames each part in a copy.
 */
import { ignore } from '../support/ignore.ts'

/** A layer of a router of @koa/router 15; one without methods is middleware. */
export interface KoaRouterLayer {
  readonly name?: string | symbol | null | undefined
  readonly methods: readonly string[]
  readonly path: string | RegExp
  readonly opts: { readonly end?: boolean; readonly pathAsRegExp?: boolean; readonly sensitive?: boolean }
}

/** The part of a router of @koa/router 15 that Mortar reads. */
export interface KoaRouter {
  readonly stack: readonly KoaRouterLayer[]
  readonly opts: object
  routes(): unknown
  match(path: string, method: string): KoaRouterMatch
}

/** The layers of a path. `route` is true if one of them has the method too. */
interface KoaRouterMatch {
  readonly path: readonly KoaRouterLayer[]
  readonly pathAndMethod: readonly KoaRouterLayer[]
  readonly route: boolean
}

interface ProbedRouter extends KoaRouter {
  register(
    path: string | RegExp,
    methods: readonly string[],
    middleware: () => void,
    options?: object,
  ): unknown
  use(middleware: () => void): unknown
}

const known = new WeakSet<object>()

/** True if the layers of a router have the parts above. */
export function showsLayers({ constructor: Class }: KoaRouter): boolean {
  if (known.has(Class)) return true
  let probe: ProbedRouter
  try {
    probe = new (Class as unknown as new (options: object) => ProbedRouter)({ sensitive: true })
  } catch {
    // A class of the application may need other arguments.
    return true
  }
  try {
    probe.use(ignore)
    probe.register('/probe/:id', ['GET'], ignore)
    probe.register('/below', ['PUT'], ignore, { end: false })
    probe.register('^/pattern$', ['PUT'], ignore, { pathAsRegExp: true })
    const [plain, route, below, pattern] = probe.stack
    const isKnown =
      plain!.methods.length === 0 &&
      route!.methods.join() === 'HEAD,GET' &&
      route!.path === '/probe/:id' &&
      route!.opts.sensitive === true &&
      below!.opts.end === false &&
      pattern!.opts.pathAsRegExp === true &&
      probe.match('/probe/1', 'PUT').path.length === 2 &&
      probe.match('/probe/1', 'GET').pathAndMethod.length === 2
    if (isKnown) known.add(Class)
    return isKnown
  } catch {
    return false
  }
}
