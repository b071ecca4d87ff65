export { default } from './first.ts'
