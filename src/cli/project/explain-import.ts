import { describeMissingExport, missingExportOf, missingExportRemedy } from '../../files/place-of-error.ts'
import { shownPath } from '../../support/shown-path.ts'
import { StartupError } from '../../errors/startup-error.ts'

/**
 * Explains an error of the import of an application: a name that a module does not export, a file that does not exist,
 * and ES modules in a package of CommonJS. Returns any other error unchanged.
 */
export function explainImport(error: unknown): unknown {
  const missing = missingExportOf(error)
  if (missing !== undefined)
    return new StartupError(`${describeMissingExport(missing)}.`, {
      code: 'MORTAR_DOCTOR_IMPORT',
      remedy: missingExportRemedy(missing),
      cause: error,
    })
  const { code, message = '' } = (error ?? {}) as { readonly code?: unknown; readonly message?: string }
  const [, file, importer] = /^Cannot find module '([^']+)' imported from '?([^'\n]+)'?/.exec(message) ?? []
  if (code === 'ERR_MODULE_NOT_FOUND' && file !== undefined && importer !== undefined)
    return new StartupError(`${shownPath(importer)} imports ${shownPath(file)}, which does not exist.`, {
      code: 'MORTAR_DOCTOR_IMPORT',
      remedy: "Correct the path. A relative import needs the extension of the file, such as './notes.ts'.",
      files: [importer],
      cause: error,
    })
  if (!AS_COMMONJS.test(message)) return error
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
