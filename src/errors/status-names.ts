/*
 * `import 'node:http'` reads every export of that module. Since Node 22 one of them is `WebSocket`, whose getter loads
 * all of undici: 10 to 15 MB and tens of milliseconds at start. `process.getBuiltinModule` reads none.
 * test/app/start.test.ts checks that undici is not loaded.
 */

/** Names of the HTTP statuses: `STATUS_CODES[404]` is `'Not Found'`. */
export const { STATUS_CODES } = process.getBuiltinModule('node:http')
