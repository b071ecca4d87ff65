import type Koa from 'koa'
import type { Context, KoaContext } from '../context/context.ts'
import { linkUser } from './koa-context.ts'
import { publicContext, type RequestContext } from '../context/request-context.ts'

const STATE = Symbol('state')
const MORTAR = Symbol('mortar')
const IS_LINKED = Symbol('is linked')

/** The state of `ctx.state` on the contexts of one Koa application. */
interface StateHolder {
  [STATE]: unknown
  [MORTAR]?: Context
  [IS_LINKED]?: boolean
}

/**
 * Defines the member `mortar` of `ctx.state` on the first read of `ctx.state`. Defining it costs more than the rest of
 * a Koa context, and most middleware never reads it.
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
 * Sets the signed-in user as `ctx.state.user` and Mortar's `ctx` as `ctx.state.mortar` for Koa middleware, which
 * reaches the members of bricks through it. `mortar` is not enumerable, so that templates and logs do not copy it.
 */
export function linkState(koa: KoaContext, ctx: RequestContext): void {
  const holder = koa as Partial<StateHolder>
  if (STATE in holder) {
    holder[MORTAR] = publicContext(ctx)
    holder[IS_LINKED] = false
  } else {
    // The context of an outer application in which this one is mounted.
    defineMortar(koa.state, publicContext(ctx))
  }
  linkUser(ctx, koa)
}

function defineMortar(state: unknown, value: Context): void {
  if (typeof state === 'object' && state !== null)
    Reflect.defineProperty(state, 'mortar', { value, configurable: true, writable: true })
}
