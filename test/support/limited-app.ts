import {
  createApp,
  createRouter,
  defineBrick,
  value,
  type App,
  type Limiter,
  type RouteDefinition,
  type RouteLimit,
} from 'mortar'
import { limits } from '@mortar/limits'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createMemoryLimiter } from '../../src/limits/memory-limiter.ts'
import { TestClock } from '../plugins/auth/support/clock.ts'
import type { ServedApp } from './adapters.ts'
import { tokens } from './tokens-brick.ts'

/** A limiter whose results are promises, as those of a database are. */
const promised = (rules: Limiter['rules']) => {
  const limiter = createMemoryLimiter({ clock: new TestClock(), rules: rules ?? {} })
  const asynchronous: Limiter = {
    ...limiter,
    consume: async (key, limit) => {
      await nextTurn()
      return limiter.consume(key, limit)
    },
  }
  return defineBrick({ name: 'promised', services: { limiter: value(asynchronous) } })
}

let isAsynchronous = false

/** Makes the applications of `appOf` count in an asynchronous store, or in an immediate one. */
export function countIn(store: string): void {
  isAsynchronous = store === 'asynchronous'
}

export const PER_MINUTE = { limit: 2, window: '1m', by: 'ip' } as const

export function appOf(...routers: readonly ReturnType<typeof createRouter>[]): App {
  let app = createApp({ environment: 'test', logger: false, trustProxy: ['127.0.0.1'] })
    .use(tokens())
    .use(
      isAsynchronous ? promised({ search: PER_MINUTE }) : limits({ rules: { search: PER_MINUTE } }),
    ) as unknown as App
  for (const router of routers) app = app.use(router)
  return app
}

export const limited = (limit: RouteLimit, more: RouteDefinition = {}) =>
  createRouter().get('/a', { ...more, limit } as RouteDefinition, () => 'ok')

export async function statuses(
  app: ServedApp,
  count: number,
  path = '/a',
  init?: RequestInit,
): Promise<number[]> {
  const found: number[] = []
  for (let index = 0; index < count; index++) {
    const response = await app.fetch(path, init)
    await response.arrayBuffer()
    found.push(response.status)
  }
  return found
}

export const from = (ip: string, more: Record<string, string> = {}): RequestInit => ({
  headers: { 'x-forwarded-for': ip, ...more },
})
