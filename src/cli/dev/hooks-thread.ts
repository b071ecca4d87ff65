import type { MessagePort } from 'node:worker_threads'
import type { FromHooks, ToHooks } from './module-versions.ts'
import { createResolver } from './resolve-version.ts'

/** Imports that the application's thread does not know yet. */
let imports: (readonly [string | undefined, string])[] = []
const resolver = createResolver((importer, url) => void imports.push([importer, url]))

/** Node's hook, in the thread of the hooks. */
export const { resolve } = resolver

/** Called by Node with the data of `register()`. */
export function initialize({ port }: { readonly port: MessagePort }): void {
  port.on('message', ({ renewed = [], version = 0 }: ToHooks) => {
    resolver.renew(renewed, version)
    port.postMessage({ imports } satisfies FromHooks)
    imports = []
  })
  port.unref()
}
