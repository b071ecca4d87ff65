import { createRequire } from 'node:module'
import type Cookies from 'cookies'
import type ipaddr from 'ipaddr.js'
import type Koa from 'koa'
import type * as mimeTypes from 'mime-types'
import type * as pino from 'pino'
import type * as yup from 'yup'
import { once } from './once.ts'

/*
 * Packages that an application may never need. Each is loaded synchronously at its first use, since a getter cannot
 * wait for `import()`. They are CommonJS, and `require` avoids Node's search of their source for export names, which
 * costs `import` up to 30 ms and 7 MB for a large file. `test/app/start.test.ts` checks that an application of routes
 * loads none of them.
 */
const require = createRequire(import.meta.url)

/** Koa, for `ctx.koa`, `app.koa` and `fromKoa`. */
export const loadKoa: () => typeof Koa = once(() => require('koa'))

/** The class behind `ctx.cookies`. */
export const loadCookies: () => typeof Cookies = once(() => require('cookies'))

/** The table of media types behind `ctx.type`. */
export const loadMediaTypes: () => typeof mimeTypes = once(() => require('mime-types'))

/** IP addresses and ranges, for `trustProxy`. */
export const loadAddresses: () => typeof ipaddr = once(() => require('ipaddr.js'))

/** The same yup that an application imports. */
export const loadYup: () => typeof yup = once(() => require('yup'))

/** The default logger. */
export const loadPino: () => typeof pino = once(() => require('pino'))
