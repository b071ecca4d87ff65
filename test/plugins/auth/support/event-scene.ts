import type { AuthEvents } from '@mortar/auth'
import type { Client } from './client.ts'
import type { World, WorldOptions } from './world.ts'

export const NEXT = 'another horse battery'
export const EVE = 'eve@example.com'
export const IP = '192.0.2.77'
export const FROM = { 'x-forwarded-for': IP, 'x-request-id': 'request-77' }
export const CROSS_SITE = { ...FROM, 'sec-fetch-site': 'cross-site' }
export const limitOf = (rule: string, scope: string) => ({
  limited: true,
  auth: { limits: { [rule]: { [scope]: { limit: 1, window: '1h' } } } },
})

/** Facts about Ada and her session after the set-up, for the table. */
export interface Scene {
  readonly world: World
  readonly ada: Client
  readonly userId: string
  readonly sessionId: string
}

export interface Row {
  readonly flow: string
  readonly end: string
  readonly options?: WorldOptions
  /** Preparation; its events are ignored. */
  readonly before?: (scene: Scene) => Promise<unknown>
  readonly act: (scene: Scene) => Promise<{ readonly status: number }>
  readonly status: number
  /** The exact events, in their order, without `ip` and `requestId`, which every one has. */
  readonly events: (scene: Scene) => readonly [keyof AuthEvents, object][]
}

export const post = ({ world }: Scene, path: string, body?: unknown) => world.client().post(path, body, FROM)
export const login = (scene: Scene, email: string, password: string) =>
  post(scene, '/auth/login', { email, password })
export const failing = async ({ world }: Scene) => world.storage.interruptions.failAlways()
