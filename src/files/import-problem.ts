import type { StartupError } from '../errors/startup-error.ts'
import { missingPackageOf, missingPackagesError } from '../peers/missing-package.ts'
import type { Finding } from '../routing/finding.ts'
import { diagnostic } from './diagnostics.ts'
import { explainedImport } from './place-of-error.ts'
import { placeOfError } from '../support/place-of-error.ts'

/** A file that could not be imported, with the error of the import. */
export interface FailedImport {
  readonly file: string
  readonly cause: unknown
}

interface Failure {
  readonly cause: unknown
  readonly files: string[]
}

/**
 * Makes one problem for each cause of failed imports. Packages that are not installed become one problem, whichever files
 * import them.
 */
export function problemsOfImports(failed: readonly FailedImport[]): StartupError[] {
  const failures = new Map<unknown, Failure>()
  for (const { file, cause } of failed) {
    const reason = reasonOf(cause, file)
    const failure = failures.get(reason) ?? { cause, files: [] }
    failures.set(reason, failure)
    failure.files.push(file)
  }
  const all = [...failures.values()]
  const missing = all.flatMap(({ cause }) => missingPackageOf(cause) ?? [])
  const others = all.filter(({ cause }) => missingPackageOf(cause) === undefined)
  return [
    ...(missing.length === 0 ? [] : [missingPackagesError(missing)]),
    ...others.map((failure) => importProblem(failure)),
  ]
}

/**
 * Key of a cause. Node throws the same error object to all importers of a module that failed while it ran, and another
 * object of the same text for each importer of one that could not be linked.
 */
function reasonOf(cause: unknown, file: string): unknown {
  if (codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION') return file.slice(file.lastIndexOf('.'))
  if (!(cause instanceof Error)) return cause
  const place = placeOfError(cause)
  return place === undefined ? cause : `${cause.message}\n${place}`
}

function importProblem({ cause, files }: Failure): StartupError {
  const explained = explainedImport(cause)
  const reason = explained === undefined ? ` (${summaryOf(cause)})` : `: ${explained.found}`
  const finding: Finding = {
    code: 'MORTAR_ROUTE_IMPORT',
    found: `cannot be imported${reason}`,
    remedy: explained?.remedy ?? remedyFor(cause),
    cause,
  }
  return diagnostic(files, finding)
}

/** Returns the remedy for an error of an import. */
export function remedyFor(cause: unknown): string {
  if (codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION')
    return 'Start Node with a loader for these files (node --import tsx), or build the application first.'
  const message = cause instanceof Error ? cause.message : ''
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(message)) ?? []
  return remedy ?? 'Fix the module at the place that the message names.'
}

/** Remedies by the messages of V8 and Node. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /^Cannot access '.+' before initialization/,
    'If modules import each other in a circle, move what they share into a module that imports neither.',
  ],
  [/^(?:module|exports) is not defined/, 'Write `export default` or `export` in place of `module.exports`.'],
  [/^require is not defined/, "Write `import name from '…'` in place of `require('…')`."],
  [/^__dirname is not defined/, 'Write `import.meta.dirname` in place of `__dirname`.'],
  [/^__filename is not defined/, 'Write `import.meta.filename` in place of `__filename`.'],
  [
    /^Cannot find package '[@~]\//,
    'Write a relative path, or #lib/name with "imports": { "#lib/*": "./lib/*.ts" } in package.json: Node does not read `paths` of tsconfig.json.',
  ],
  [
    /^Package subpath '.+' is not defined by "exports"/,
    'Correct the import: "exports" in the package.json of that package lists what can be imported.',
  ],
]

/** Returns the first line of an error, and the second if the first is only a heading, as in esbuild's errors. */
export function summaryOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const [first = '', second = ''] = cause.message.split('\n')
  const place = placeOfError(cause)
  const at = place === undefined || first.endsWith(':') ? '' : `, at ${place}`
  return `${cause.name}: ${first.endsWith(':') ? `${first} ${second}` : first}${at}`
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}
