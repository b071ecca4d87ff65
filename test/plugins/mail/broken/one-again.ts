// One template under two names.
export { default } from './one.ts'
