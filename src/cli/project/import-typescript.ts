import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartupError } from '../../errors/startup-error.ts'
import { processVariables } from '../../support/env/environment.ts'

/**
 * Makes `import` of TypeScript work in this process: by the loader that Node was started with, else by tsx, which the
 * application has among its development tools, else by Node itself where it can.
 * @throws StartupError `MORTAR_CLI_TSX` when there is no way.
 */
export async function allowTypeScript(root: string): Promise<void> {
  if (hasLoader()) return
  const url = findTsx(root, './esm/api')
  if (url !== undefined) {
    const { register } = (await import(url)) as { register(): unknown }
    register()
    return
  }
  if (!('typescript' in process.features)) throw noTsx()
}

/** Arguments of Node for a child process that imports TypeScript as this one does. */
export function typeScriptArguments(root: string): string[] {
  if (hasLoader()) return [...process.execArgv]
  const url = findTsx(root, '.')
  if (url === undefined && !('typescript' in process.features)) throw noTsx()
  return url === undefined ? [...process.execArgv] : [...process.execArgv, `--import=${url}`]
}

function hasLoader(): boolean {
  const given = [...process.execArgv, processVariables()['NODE_OPTIONS'] ?? ''].join(' ')
  return /(^|[\s=/])tsx([\s/]|$)/.test(given)
}

/** A file of the application's own tsx, else of the one beside the framework, as `import` would find it. */
function findTsx(root: string, entry: '.' | './esm/api'): string | undefined {
  for (const from of [join(root, 'package.json'), import.meta.filename])
    try {
      const manifest = createRequire(from).resolve('tsx/package.json')
      const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, Target> }
      return pathToFileURL(join(dirname(manifest), importedFile(exports[entry]))).href
    } catch {
      // The next place may have it.
    }
  return undefined
}

/** What a key of `exports` in a package.json leads to: a file, or one for each condition. */
type Target = string | { readonly import?: Target; readonly default?: Target } | undefined

/** `require` would find another file than `import` does. */
function importedFile(target: Target): string {
  if (typeof target === 'string') return target
  if (target === undefined) throw new Error('The entry is not there.')
  return importedFile(target.import ?? target.default)
}

function noTsx(): StartupError {
  return new StartupError('The application is in TypeScript, and there is no tsx to run it with.', {
    code: 'MORTAR_CLI_TSX',
    remedy: 'Install it: npm install --save-dev tsx. What `mortar build` made runs without it.',
  })
}
