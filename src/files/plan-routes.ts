import type { StartupError } from '../errors/startup-error.ts'
import { checkConflicts } from './check-conflicts.ts'
import { byCodeUnits, diagnostic, folderDiagnostic, inFileOrder } from './diagnostics.ts'
import type { Finding } from '../routing/finding.ts'
import { parseFileName, type FileName } from './parse-file-name.ts'
import type { PlannedFile } from './planned-file.ts'

/** Routes and middleware by the file names of a directory. With `problems`, `files` is for further checks only. */
export interface RoutePlan {
  /** In code-unit order of their paths. */
  readonly files: readonly PlannedFile[]
  readonly problems: readonly StartupError[]
  readonly warnings: readonly string[]
}

interface Candidate {
  readonly file: string
  readonly name: Exclude<FileName, { kind: 'ignored' }>
}

/** Plans the routes of a directory from the relative paths of its files (`users/[id].get.ts`). Pure. */
export function planRoutes(paths: readonly string[]): RoutePlan {
  const warnings: string[] = []
  const candidates = paths.toSorted(byCodeUnits).flatMap((path) => readPath(path, warnings))
  const { unique, problems } = withoutTwins(candidates)
  const files = unique.flatMap(({ name }) => name.plan ?? [])
  return {
    files,
    problems: inFileOrder([...problems, ...faultsOf(unique), ...checkConflicts(files)]),
    warnings,
  }
}

function readPath(file: string, warnings: string[]): Candidate[] {
  const name = parseFileName(file)
  if ('warning' in name) warnings.push(`${file} ${name.warning}`)
  return name.kind === 'ignored' ? [] : [{ file, name }]
}

/** Keeps the first file of a module with several extensions (`x.get.ts`, `x.get.js`). */
function withoutTwins(candidates: readonly Candidate[]): { unique: Candidate[]; problems: StartupError[] } {
  const groups = new Map<string, Candidate[]>()
  for (const candidate of candidates) {
    const { module } = candidate.name
    groups.set(module, [...(groups.get(module) ?? []), candidate])
  }
  const twins = [...groups.values()].filter((group) => group.length > 1)
  return {
    unique: [...groups.values()].map((group) => group[0]!),
    problems: twins.map((group) =>
      diagnostic(
        group.map(({ file }) => file),
        {
          code: 'MORTAR_ROUTE_EXTENSIONS',
          found: 'are one module with different extensions',
          remedy: 'Keep one of them; compiled files belong in a directory of their own.',
        },
      ),
    ),
  }
}

/** Groups findings by fault, so that a folder is reported once for all its files. */
function faultsOf(candidates: readonly Candidate[]): StartupError[] {
  const ofFiles: StartupError[] = []
  const ofFolders = new Map<string, { folder: string; finding: Finding; files: string[] }>()
  for (const { file, name } of candidates)
    for (const { finding, folder } of name.faults) {
      const key = `${finding.code} ${folder}`
      const known = ofFolders.get(key)
      if (folder === undefined) ofFiles.push(diagnostic([file], finding))
      else if (known === undefined) ofFolders.set(key, { folder, finding, files: [file] })
      else known.files.push(file)
    }
  const folders = [...ofFolders.values()]
  return [...ofFiles, ...folders.map((fault) => folderDiagnostic(fault.folder, fault.files, fault.finding))]
}
