import { createRequire } from 'node:module'
import type Koa from 'koa'

type KoaModule = typeof Koa

let loaded: KoaModule | undefined

/**
 * Koa, loaded when it is first needed and at once: an application that never touches `ctx.koa`, `app.koa` or `fromKoa`
 * starts without it, and a getter cannot wait for `import()`.
 */
export function loadKoa(): KoaModule {
  return (loaded ??= createRequire(import.meta.url)('koa') as KoaModule)
}
