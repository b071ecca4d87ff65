import type { Finding } from '../routing/finding.ts'
import { isIgnoredFolder, parseBaseName, type BaseName } from './base-name.ts'
import { isFinding, ownSpelling, parseSegment, patternSegment, type FileSegment } from './parse-segment.ts'
import type { PlannedFile } from './planned-file.ts'

/** A broken convention in the path of a file. */
export interface Fault {
  readonly finding: Finding
  /** The folder whose name is broken; undefined for the name of the file itself. */
  readonly folder: string | undefined
}

/** The meaning of the path of a file in the directory of routes. */
export type FileName =
  | { readonly kind: 'ignored'; readonly warning?: string }
  | {
      readonly kind: 'planned'
      /** The path without extension, the same for `x.get.ts` and `x.get.js`. */
      readonly module: string
      /** Method and pattern; undefined when the file cannot become a route. */
      readonly plan: PlannedFile | undefined
      readonly faults: readonly Fault[]
      readonly warning?: string
    }

/**
 * Parses the path of a file, relative to the directory of routes, into method and pattern: `users/[id].get.ts` is
 * `GET /users/:id`, `files/[...path].put.ts` is `PUT /files/*path`, and `users/_middleware.ts` wraps `/users`. Pure: it
 * does not read the disk.
 */
export function parseFileName(file: string): FileName {
  const folders = file.split('/')
  const base = parseBaseName(folders.pop()!)
  if (folders.some(isIgnoredFolder)) return { kind: 'ignored' }
  if (base.kind === 'ignored') return base
  const faults: Fault[] = base.kind === 'broken' ? [{ finding: base.finding, folder: undefined }] : []
  const segments = readSegments(folders, base.kind === 'middleware' ? undefined : base.segment, faults)
  const warning = 'warning' in base ? base.warning : foreignWarning(segments ?? [])
  return {
    kind: 'planned',
    module: base.kind === 'broken' ? file : [...folders, base.module].join('/'),
    plan: planFile(file, base, segments),
    faults,
    ...(warning !== undefined && { warning }),
  }
}

/** Warns about a segment that is a valid path, and a parameter in another framework. */
function foreignWarning(segments: readonly FileSegment[]): string | undefined {
  const foreign = segments.find(({ kind, name }) => kind === 'static' && ownSpelling(name) !== name)
  if (foreign === undefined) return undefined
  return `has "${foreign.name}" in its path as it is; did you mean "${ownSpelling(foreign.name)}"?`
}

function planFile(
  file: string,
  base: Exclude<BaseName, { kind: 'ignored' }>,
  segments: readonly FileSegment[] | undefined,
): PlannedFile | undefined {
  // Module loaders fail on these characters too: an import would add a second finding for the same fault.
  if (base.kind === 'broken' || /[?#%\\]/.test(file)) return undefined
  const pattern = `/${(segments ?? []).map(patternSegment).join('/')}`
  if (base.kind === 'middleware') return { kind: 'middleware', file, pattern, segments }
  const { method, protocol } = base
  return { kind: 'route', file, method, pattern, segments, ...(protocol !== undefined && { protocol }) }
}

/** The segments of folders and name, or undefined when one of them is broken. */
function readSegments(
  folders: readonly string[],
  ownSegment: string | undefined,
  faults: Fault[],
): FileSegment[] | undefined {
  const parts = ownSegment === undefined ? folders : [...folders, ownSegment]
  const segments: FileSegment[] = []
  let isSound = true
  for (const [index, part] of parts.entries()) {
    const add = (finding: Finding) => {
      isSound = false
      const folder = index === folders.length ? undefined : folders.slice(0, index + 1).join('/')
      faults.push({ finding, folder })
    }
    // A file system may decompose letters, and clients send them composed.
    const segment = parseSegment(part.normalize())
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
    remedy: `Rename the second one; a handler could read only one value of "${name}".`,
  }
}

function notLastFinding({ name, raw }: FileSegment): Finding {
  return {
    code: 'MORTAR_ROUTE_CATCH_ALL_NOT_LAST',
    found: `has segments after the catch-all "${raw}", which matches the whole rest of the path`,
    remedy: `Make it a parameter of one segment, [${name}], or remove those segments.`,
  }
}
