import { StartupError } from '../errors/startup-error.ts'
import type { Environment } from '../support/env/environment.ts'
import { RequestContext } from './request-context.ts'

/** Names of ctx that already have a meaning, here, in Koa or in JavaScript itself. */
const KEPT = [
  'state',
  'app',
  'request',
  'response',
  'req',
  'res',
  'then',
  'toJSON',
  'inspect',
  '__proto__',
  'files',
]
const FIELDS = ['method', 'url', 'path', 'route', 'user', 'body', 'rawBody', 'params', 'internal']
const RESERVED = new Set([...Object.getOwnPropertyNames(RequestContext.prototype), ...FIELDS, ...KEPT])

/**
 * Members of Koa's, Express's and Fastify's context that `ctx` does not have, with what to write instead. Bricks cannot
 * add a member with one of these names.
 */
const REMEDIES = {
  request:
    'Read ctx.body, ctx.query, ctx.params, ctx.headers or ctx.get(name); the Koa request is ctx.koa.request. Koa middleware goes through fromKoa().',
  response:
    'Return the value from the handler, and set ctx.status, ctx.type or ctx.set(name, value); the Koa response is ctx.koa.response. Koa middleware goes through fromKoa().',
  req: 'Read ctx.body, ctx.query, ctx.params or ctx.headers; the request of Node is ctx.koa.req. Koa middleware goes through fromKoa().',
  res: 'Return the value from the handler, and set ctx.status or ctx.set(name, value); the response of Node is ctx.koa.res. Koa middleware goes through fromKoa().',
  state: 'Pass values with a member of a brick or a scoped service; the state of Koa is ctx.koa.state.',
} as const

const RETURN = 'Return the value from the handler, and set ctx.status.'
const SET = 'Write ctx.set(name, value); return the body from the handler.'
const THROW = 'Throw an error of mortar: throw new NotFound().'

/** Methods of the context of Hono, Express and Koa. Unlike the names above, bricks can add members with these names. */
const METHODS = {
  json: RETURN,
  send: RETURN,
  text: RETURN,
  html: 'Return the string from the handler, and set ctx.type to text/html.',
  reply: RETURN,
  header: SET,
  throw: THROW,
  assert: THROW,
  vary: "Koa middleware goes through fromKoa(). A handler writes ctx.append('Vary', name).",
  logger: 'Write ctx.log.',
} as const

/** Computes a member on its first read in a request. */
export type MemberGetter = (ctx: RequestContext) => unknown

/** The context class of one application, to which members are added before its first request. */
export type ContextClass = ReturnType<typeof createContextClass>

/** Creates the context class of an application. */
export function createContextClass({ environment }: { readonly environment: Environment }) {
  const owners = new Map<string, string>()
  class ApplicationContext extends RequestContext {}
  if (environment !== 'production') refuseForeignMembers(ApplicationContext.prototype)

  return {
    Context: ApplicationContext,
    /**
     * Adds a lazy, read-only member.
     * @throws StartupError for a name that is reserved or used by another brick.
     */
    addMember(name: string, brick: string, read: MemberGetter) {
      refuseTakenName(name, brick, owners.get(name))
      owners.set(name, brick)
      Object.defineProperty(ApplicationContext.prototype, name, {
        configurable: false,
        enumerable: true,
        get(this: RequestContext) {
          const members = (this.internal.members ??= Object.create(null) as Record<string, unknown>)
          if (!(name in members)) members[name] = read(this)
          return members[name]
        },
      })
    },
  }
}

function refuseTakenName(name: string, brick: string, other: string | undefined): void {
  if (RESERVED.has(name))
    throw new StartupError(`The brick '${brick}' adds ctx.${name}, but that name is reserved.`, {
      code: 'MORTAR_MEMBER_RESERVED',
      remedy: 'Rename the member.',
      brick,
    })
  if (other !== undefined)
    throw new StartupError(`The bricks '${other}' and '${brick}' both add ctx.${name}.`, {
      code: 'MORTAR_MEMBER_TAKEN',
      remedy: 'Rename the member of one of them.',
      brick,
    })
}

/** Adds getters to a prototype of `ctx` that throw with the remedy. For use outside production. */
function refuseForeignMembers(prototype: object): void {
  for (const [name, remedy] of Object.entries({ ...REMEDIES, ...METHODS }))
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: false,
      get() {
        throw new TypeError(`ctx.${name} does not exist. ${remedy}`)
      },
    })
}
