import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartupError } from '../../errors/startup-error.ts'
import { installCommand } from '../../peers/package-manager.ts'
import { processVariables } from '../../support/env/environment.ts'

/**
 * Enables `import` of TypeScript in this process from now on, so that tsx does not slow down modules loaded before. Uses
 * the loader that Node was started with, else tsx from the application's development dependencies, else Node itself if
 * it supports TypeScript. Bun and Deno need nothing.
 * @throws StartupError `MORTAR_CLI_TSX` if none of them is available.
 */
export async function allowTypeScript(root: string): Promise<void> {
  if (isReady()) return
  const url = findTsx(root)
  if (url !== undefined) {
    const { register } = (await import(url)) as { register(): unknown }
    register()
    return
  }
  if (!('typescript' in process.features)) throw noTsx()
}

/** In Deno tsx would make `require` read the compiled part of a package as JavaScript. */
function isReady(): boolean {
  if ('bun' in process.versions || 'deno' in process.versions) return true
  const given = [...process.execArgv, processVariables()['NODE_OPTIONS'] ?? ''].join(' ')
  return /(^|[\s=/])tsx([\s/]|$)/.test(given)
}

/** Resolves the API of tsx as `import` would: in the application, else beside the framework. */
function findTsx(root: string): string | undefined {
  for (const from of [join(root, 'package.json'), import.meta.filename])
    try {
      const manifest = createRequire(from).resolve('tsx/package.json')
      const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, Target> }
      return pathToFileURL(join(dirname(manifest), importedFile(exports['./esm/api']))).href
    } catch {
      // Continue with the next folder.
    }
  return undefined
}

/** Target of a key of `exports` in a package.json: a file, or one file for each condition. */
type Target = string | { readonly import?: Target; readonly default?: Target } | undefined

/** Resolves the `import` condition, because `require` would find another file. */
function importedFile(target: Target): string {
  if (typeof target === 'string') return target
  if (target === undefined) throw new Error('The package does not have this entry.')
  return importedFile(target.import ?? target.default)
}

function noTsx(): StartupError {
  return new StartupError('The application is written in TypeScript, but tsx is not installed.', {
    code: 'MORTAR_CLI_TSX',
    remedy: `Install it: ${installCommand([{ name: 'tsx', development: true }])}. A build runs without tsx.`,
  })
}
