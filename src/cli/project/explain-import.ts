import { explainedImport } from '../../files/place-of-error.ts'
import { StartupError } from '../../errors/startup-error.ts'

/**
 * Explains an error of the import of an application: a name that a module does not export, a file that does not exist,
 * and ES modules in a package of CommonJS. Returns any other error unchanged.
 */
export function explainImport(error: unknown): unknown {
  const explained = explainedImport(error)
  if (explained !== undefined)
    return new StartupError(`${explained.found}.`, {
      code: 'MORTAR_DOCTOR_IMPORT',
      remedy: explained.remedy,
      cause: error,
    })
  if (!AS_COMMONJS.test((error as Partial<Error> | null)?.message ?? '')) return error
  return new StartupError('package.json does not mark the files as ES modules.', {
    code: 'MORTAR_DOCTOR_MODULE',
    remedy: 'Add "type": "module" to it.',
    files: ['package.json'],
    cause: error,
  })
}

/** Messages of esbuild and of Node for ES modules in a package without `"type": "module"`. */
const AS_COMMONJS =
  /Top-level await is currently not supported with the "cjs"|Cannot use import statement outside a module|await is only valid in async functions|^Cannot require\(\) ES Module .+ in a cycle/
