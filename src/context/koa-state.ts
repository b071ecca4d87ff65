import type Koa from 'koa'
import type { Context, KoaContext } from './context.ts'
import { linkUser } from './koa-context.ts'
import { publicContext, type RequestContext } from './request-context.ts'

const STATE = Symbol('state')
const MORTAR = Symbol('mortar')
const IS_LINKED = Symbol('is linked')

/** What stands behind `ctx.state` on the contexts of one Koa application. */
interface StateHolder {
  [STATE]: unknown
  [MORTAR]?: Context
  [IS_LINKED]?: boolean
}

/**
 * Makes `ctx.state` of a Koa application's contexts get its member `mortar` on its first read. To define a member costs
 * more than all else that a Koa context adds to a request, and most middleware never looks.
 */
export function useState({ context }: Koa): void {
  Object.defineProperty(context, 'state', {
    configurable: true,
    enumerable: true,
    get(this: StateHolder) {
      const state = this[STATE]
      if (this[IS_LINKED] !== true && this[MORTAR] !== undefined) {
        this[IS_LINKED] = true
        defineMortar(state, this[MORTAR])
      }
      return state
    },
    set(this: StateHolder, state: unknown) {
      this[STATE] = state
      this[IS_LINKED] = false
    },
  })
}

/**
 * Gives Koa middleware the signed-in user as `ctx.state.user` and the `ctx` of Mortar as `ctx.state.mortar`, for the
 * members of bricks. `mortar` is not a key of the state, so that templates and logs that copy the state do not copy it.
 */
export function linkState(koa: KoaContext, ctx: RequestContext): void {
  const holder = koa as Partial<StateHolder>
  if (STATE in holder) {
    holder[MORTAR] = publicContext(ctx)
    holder[IS_LINKED] = false
  } else {
    // The context of an application in which this one is mounted.
    defineMortar(koa.state, publicContext(ctx))
  }
  linkUser(ctx, koa)
}

function defineMortar(state: unknown, value: Context): void {
  if (typeof state === 'object' && state !== null)
    Reflect.defineProperty(state, 'mortar', { value, configurable: true, writable: true })
}
