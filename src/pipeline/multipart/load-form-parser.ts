import type { koaBody as KoaBody } from 'koa-body'

let loading: Promise<typeof KoaBody> | undefined

/**
 * Loads koa-body once. Evaluating it holds up everything else for some tenths of a second, so an application with a route
 * that reads forms waits for it at its start; others never load it.
 */
export function loadFormParser(): Promise<typeof KoaBody> {
  return (loading ??= import('koa-body').then(({ koaBody }) => koaBody))
}
