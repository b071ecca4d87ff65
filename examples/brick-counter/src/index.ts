export { counter } from './brick.ts'
export { Counter } from './counter.ts'
export type { CounterOptions } from './options.ts'
