import { packageOf } from '../peers/missing-package.ts'
import { placeOfError } from '../support/place-of-error.ts'

/** An import of a name that the imported module does not export. */
export interface MissingExport {
  /** The importing module with the line: `note-service.ts:2`. */
  readonly place: string
  readonly name: string
  /** The imported module as the import writes it. */
  readonly from: string
}

const NO_EXPORT = /^The requested module '([^']+)' does not provide an export named '([^']+)'/
const NO_EXPORT_CJS = /^Named export '([^']+)' not found\. The requested module '([^']+)'/

/** Reads the missing export from an error of Node's `import`; undefined for any other error. */
export function missingExportOf(error: unknown): MissingExport | undefined {
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
export function describeMissingExport({ place, name, from }: MissingExport): string {
  return name === 'default'
    ? `${place} imports the default export of '${from}', which has none`
    : `${place} imports ${name} from '${from}', which does not export it`
}

/** The remedy for a missing export. */
export function missingExportRemedy({ name, from }: MissingExport): string {
  const rest = 'the import. Import a type with `import type`.'
  if (name === 'default') return `Import a name in braces from '${from}', or correct ${rest}`
  // Nobody adds an export to a package.
  return packageOf(from) === undefined
    ? `Export ${name} from '${from}', or correct ${rest}`
    : `Correct ${rest}`
}
