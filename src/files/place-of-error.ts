import { packageOf } from '../peers/missing-package.ts'
import { placeOfError } from '../support/place-of-error.ts'
import { shownPath } from '../support/shown-path.ts'

/** An import of a name that the imported module does not export. */
interface MissingExport {
  /** The importing module with the line: `note-service.ts:2`. */
  readonly place: string
  readonly name: string
  /** The imported module as the import writes it. */
  readonly from: string
}

const NO_EXPORT = /^The requested module '([^']+)' does not provide an export named '([^']+)'/
const NO_FILE = /^Cannot find module '([^']+)' imported from '?([^'\n]+)'?/
const NO_EXPORT_CJS = /^Named export '([^']+)' not found\. The requested module '([^']+)'/

/**
 * Explains an error of Node's `import`: a name that a module does not export, or a file that does not exist. Undefined for
 * any other error.
 */
export function explainedImport(
  error: unknown,
): { readonly found: string; readonly remedy: string } | undefined {
  const missing = missingExportOf(error)
  if (missing !== undefined) return { found: describeMissingExport(missing), remedy: remedyFor(missing) }
  const { code, message = '' } = (error ?? {}) as { readonly code?: unknown; readonly message?: string }
  const [, file, importer] = NO_FILE.exec(message) ?? []
  if (code !== 'ERR_MODULE_NOT_FOUND' || file === undefined) return undefined
  return {
    found: `${shownPath(importer!)} imports ${shownPath(file)}, which does not exist`,
    remedy: "Correct the path. A relative import needs the extension of the file, such as './notes.ts'.",
  }
}

/** Reads the missing export from an error of Node's `import`; undefined for any other error. */
function missingExportOf(error: unknown): MissingExport | undefined {
  if (!(error instanceof SyntaxError)) return undefined
  const [, from, name] = NO_EXPORT.exec(error.message) ?? []
  const [, cjsName, cjsFrom] = NO_EXPORT_CJS.exec(error.message) ?? []
  const place = placeOfError(error)
  const found = { place: place ?? 'a module', name: name ?? cjsName, from: from ?? cjsFrom }
  return found.name === undefined || found.from === undefined
    ? undefined
    : { place: found.place, name: found.name, from: found.from }
}

/** Describes a missing export: `b.ts:1 imports X from './a.ts', which does not export it`. */
function describeMissingExport({ place, name, from }: MissingExport): string {
  return name === 'default'
    ? `${place} imports the default export of '${from}', which has none`
    : `${place} imports ${name} from '${from}', which does not export it`
}

/** The remedy for a missing export. */
function remedyFor({ name, from }: MissingExport): string {
  const rest = 'the import. Import a type with `import type`.'
  if (name === 'default') return `Import a name in braces from '${from}', or correct ${rest}`
  // Nobody adds an export to a package.
  return packageOf(from) === undefined
    ? `Export ${name} from '${from}', or correct ${rest}`
    : `Correct ${rest}`
}
