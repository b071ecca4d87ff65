export { redis } from './brick.ts'
export type { RedisServices } from './brick.ts'
export type { RedisOptions } from './options.ts'
