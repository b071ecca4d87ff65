/**
 * The configuration of the application that this repository runs with `npm start` and in its tests. It belongs to the
 * reference application, which is one folder that can be copied; change it in `examples/notes/config`.
 */
export { config } from '../examples/notes/config/index.ts'
export { settings } from '../examples/notes/config/settings.ts'
