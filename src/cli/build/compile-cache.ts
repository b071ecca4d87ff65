import * as nodeModule from 'node:module'
import { join } from 'node:path'

/** Node's functions: none before 22.8, and `flushCompileCache` from 22.10 on. */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown
  readonly flushCompileCache?: () => void
}

/** Milliseconds after which what was compiled is written; the first requests have then been answered. */
const WRITING_DELAY = 5000

/**
 * Lets Node keep the compiled code of all modules in the folder of the build, so that the next start need not compile it.
 * It has no effect on a Node without such a cache, where the folder cannot be written, where `NODE_COMPILE_CACHE` names
 * another one and with `NODE_DISABLE_COMPILE_CACHE=1`.
 */
export function keepCompiledCode(out: string, node = nodeModule as unknown as CompileCache): void {
  node.enableCompileCache?.(join(out, '.framework/compiled'))
  // Otherwise Node writes at the end of the process, which a killed one does not reach.
  setTimeout(() => node.flushCompileCache?.(), WRITING_DELAY).unref()
}
