export { limits } from './brick.ts'
export type { LimitsEvents, LimitsServices } from './brick.ts'
export type { LimitsOptions, RedisClient } from './options.ts'
