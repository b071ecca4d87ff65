import { StartupError } from '../errors/startup-error.ts'
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

/** Computes a member on its first read in a request. */
export type MemberGetter = (ctx: RequestContext) => unknown

/** The context class of one application, to which members are added before its first request. */
export interface ContextClass {
  readonly Context: typeof RequestContext
  /**
   * Adds a lazy, read-only member.
   * @throws StartupError for a name that is reserved or used by another brick.
   */
  addMember(name: string, brick: string, read: MemberGetter): void
}

/** Creates the context class of an application. */
export function createContextClass(): ContextClass {
  const owners = new Map<string, string>()
  class ApplicationContext extends RequestContext {}

  return {
    Context: ApplicationContext,
    addMember(name, brick, read) {
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
