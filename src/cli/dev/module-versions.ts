import * as nodeModule from 'node:module'
import { extname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { commandLineFolder } from '../framework-manifest.ts'
import { isInside } from '../project/project.ts'
import { createModuleGraph, type ModuleGraph } from './module-graph.ts'
import { createResolver, type Resolver } from './resolve-version.ts'

/** Versions of the modules of a project. Node evaluates a module again only under another URL. */
export interface ModuleVersions {
  /** Returns the imports until now. */
  graph(): Promise<ModuleGraph>
  /** Makes the next imports of these modules evaluate them again. */
  renew(modules: readonly string[], version: number): Promise<void>
}

/** Message of the thread of the hooks: imports as pairs of URLs, or the reply to a message. */
export type FromHooks = { readonly imports: readonly (readonly [string | undefined, string])[] }
export type ToHooks = { readonly renewed?: readonly string[]; readonly version?: number }

/** The functions of Node's module hooks: `registerHooks` from Node 22.15 on. */
interface Hooks {
  readonly registerHooks?: (hooks: { resolve: Resolver['resolve'] }) => unknown
  readonly register?: (specifier: string, options: object) => unknown
}

/**
 * Follows the imports of the modules below a folder. In a runtime without hooks the graph stays empty.
 * @param root an absolute path.
 */
export function followModules(root: string): ModuleVersions {
  const graph = createModuleGraph()
  const fileOf = (url: string | undefined): string | undefined => {
    if (url?.startsWith('file:') !== true) return undefined
    const path = fileURLToPath(url.replace(/[?#].*$/, ''))
    return isInside(path, root) && !path.includes(`${sep}node_modules${sep}`) ? path : undefined
  }
  const add = (importer: string | undefined, url: string): void => {
    const module = fileOf(url)
    if (module !== undefined) graph.add(fileOf(importer), module)
  }
  const hooks = nodeModule as unknown as Hooks
  if (hooks.registerHooks !== undefined) return inThisThread(hooks.registerHooks, graph, add)
  if (hooks.register !== undefined) return inTheirThread(hooks.register, graph, add)
  return { graph: async () => graph, renew: async () => undefined }
}

type Add = (importer: string | undefined, url: string) => void

function inThisThread(register: Hooks['registerHooks'] & {}, graph: ModuleGraph, add: Add): ModuleVersions {
  const resolver = createResolver(add)
  register({ resolve: resolver.resolve })
  return {
    graph: async () => graph,
    renew: async (modules, version) => resolver.renew(modules, version),
  }
}

/** On Node 20 hooks run in a thread of their own. Each message to them has one reply, with the imports since the last. */
function inTheirThread(register: Hooks['register'] & {}, graph: ModuleGraph, add: Add): ModuleVersions {
  const { port1, port2 } = new MessageChannel()
  const waiting: (() => void)[] = []
  const program = join(commandLineFolder(), `dev/hooks-thread${extname(import.meta.filename)}`)
  register(pathToFileURL(program).href, {
    data: { port: port2 },
    transferList: [port2],
  })
  port1.on('message', ({ imports }: FromHooks) => {
    for (const [importer, url] of imports) add(importer, url)
    waiting.shift()?.()
  })
  port1.unref()
  const ask = (message: ToHooks): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve)
      port1.postMessage(message)
    })
  return {
    async graph() {
      await ask({})
      return graph
    },
    renew: (renewed, version) => ask({ renewed, version }),
  }
}
