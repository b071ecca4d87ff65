export { tracing } from './brick.ts'
