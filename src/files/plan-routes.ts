import type { StartupError } from '../errors/startup-error.ts'
import { checkConflicts } from './check-conflicts.ts'
import { byCodeUnits, diagnostic, folderDiagnostic, inFileOrder } from './diagnostics.ts'
import type { Finding } from '../routing/finding.ts'
import { isIgnoredFolder, parseFileName, type FileName } from './parse-file-name.ts'
import { isFinding, parseSegment, patternSegment, type FileSegment } from './parse-segment.ts'
import type { PlannedFile } from './planned-file.ts'

/** Routes and middleware by the file names of a directory. With `problems`, `files` is for further checks only. */
export interface RoutePlan {
  /** In code-unit order of their paths. */
  readonly files: readonly PlannedFile[]
  readonly problems: readonly StartupError[]
  readonly warnings: readonly string[]
}

/** A file with a parsed name; the segments of its path are still strings. */
interface Candidate {
  readonly file: string
  readonly folders: readonly string[]
  readonly name: Exclude<FileName, { kind: 'ignored' }>
}

/** Plans the routes of a directory from the relative paths of its files (`users/[id].get.ts`). Pure. */
export function planRoutes(paths: readonly string[]): RoutePlan {
  const warnings: string[] = []
  const candidates = paths.toSorted(byCodeUnits).flatMap((path) => readPath(path, warnings))
  const { unique, problems } = withoutTwins(candidates)
  const faults = createFaultList()
  const files = unique.flatMap((candidate) => place(candidate, faults))
  return {
    files,
    problems: inFileOrder([...problems, ...faults.diagnostics(), ...checkConflicts(files)]),
    warnings,
  }
}

function readPath(file: string, warnings: string[]): Candidate[] {
  const folders = file.split('/')
  const name = parseFileName(folders.pop()!)
  if (folders.some(isIgnoredFolder)) return []
  if ('warning' in name) warnings.push(`${file} ${name.warning}`)
  return name.kind === 'ignored' ? [] : [{ file, folders, name }]
}

/** Keeps the first file of a module with several extensions (`x.get.ts`, `x.get.js`). */
function withoutTwins(candidates: readonly Candidate[]): { unique: Candidate[]; problems: StartupError[] } {
  const groups = new Map<string, Candidate[]>()
  for (const candidate of candidates) {
    const { file, folders, name } = candidate
    const key = name.kind === 'broken' ? file : [...folders, name.module].join('/')
    groups.set(key, [...(groups.get(key) ?? []), candidate])
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
interface FaultList {
  addToFile(file: string, finding: Finding): void
  addToFolder(folder: string, file: string, finding: Finding): void
  diagnostics(): StartupError[]
}

function createFaultList(): FaultList {
  const ofFiles: StartupError[] = []
  const ofFolders = new Map<string, { folder: string; finding: Finding; files: string[] }>()
  return {
    addToFile: (file, finding) => void ofFiles.push(diagnostic([file], finding)),
    addToFolder(folder, file, finding) {
      const key = `${finding.code} ${folder}`
      const fault = ofFolders.get(key) ?? { folder, finding, files: [] }
      ofFolders.set(key, fault)
      fault.files.push(file)
    },
    diagnostics: () => [
      ...ofFiles,
      ...[...ofFolders.values()].map(({ folder, files, finding }) =>
        folderDiagnostic(folder, files, finding),
      ),
    ],
  }
}

function place({ file, folders, name }: Candidate, faults: FaultList): PlannedFile[] {
  if (name.kind === 'broken') faults.addToFile(file, name.finding)
  const ownSegment = name.kind === 'middleware' ? undefined : name.segment
  const segments = readSegments(file, folders, ownSegment, faults)
  // Module loaders fail on these characters too: an import would add a second finding for the same fault.
  if (name.kind === 'broken' || /[?#%\\]/.test(file)) return []
  const pattern = `/${(segments ?? []).map(patternSegment).join('/')}`
  return name.kind === 'route'
    ? [{ kind: 'route', file, method: name.method, pattern, segments }]
    : [{ kind: 'middleware', file, pattern, segments }]
}

/** The segments of folders and name, or undefined when one of them is broken. */
function readSegments(
  file: string,
  folders: readonly string[],
  ownSegment: string | undefined,
  faults: FaultList,
): FileSegment[] | undefined {
  const parts = ownSegment === undefined ? folders : [...folders, ownSegment]
  const segments: FileSegment[] = []
  let isSound = true
  for (const [index, part] of parts.entries()) {
    const add = (finding: Finding) => {
      isSound = false
      if (index === folders.length) faults.addToFile(file, finding)
      else faults.addToFolder(folders.slice(0, index + 1).join('/'), file, finding)
    }
    const segment = parseSegment(part)
    if (isFinding(segment)) {
      add(segment)
      continue
    }
    if (isTaken(segment, segments)) add(twiceFinding(segment))
    segments.push(segment)
    if (segment.kind === 'catch-all' && index < parts.length - 1) add(notLastFinding(segment))
  }
  return isSound ? segments : undefined
}

function isTaken(segment: FileSegment, earlier: readonly FileSegment[]): boolean {
  return (
    segment.kind !== 'static' && earlier.some(({ kind, name }) => kind !== 'static' && name === segment.name)
  )
}

function twiceFinding({ name }: FileSegment): Finding {
  return {
    code: 'MORTAR_ROUTE_PARAMETER_TWICE',
    found: `has the parameter "${name}" twice in its path`,
    remedy: `Give the second one a name of its own; a handler could see only one value of "${name}".`,
  }
}

function notLastFinding({ name, raw }: FileSegment): Finding {
  return {
    code: 'MORTAR_ROUTE_CATCH_ALL_NOT_LAST',
    found: `has segments after the catch-all "${raw}", which takes the whole rest of the path`,
    remedy: `Make it a parameter of one segment, [${name}], or take those segments out of it.`,
  }
}
