export { metrics } from './brick.ts'
export type { MetricsServices } from './brick.ts'
export type { MetricsOptions } from './options.ts'
