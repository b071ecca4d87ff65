import type { StartupError } from '../errors/startup-error.ts'
import { diagnostic } from './diagnostics.ts'
import { listWords } from '../support/list-words.ts'
import type { FileSegment } from './parse-segment.ts'
import type { PlannedFile } from './planned-file.ts'

/** A segment at its position, with the first file that uses it there. */
interface Place {
  readonly segment: FileSegment
  readonly file: string
}

/** Files that contradict each other: two for one endpoint, two parameter names or two spellings at one position. */
export function checkConflicts(files: readonly PlannedFile[]): StartupError[] {
  const siblings = [...siblingPlaces(files).values()].map((places) => [...places.values()])
  return [...duplicates(files), ...siblings.flatMap(secondNames), ...siblings.flatMap(secondSpellings)]
}

function duplicates(files: readonly PlannedFile[]): StartupError[] {
  const endpoints = new Map<string, string[]>()
  for (const file of files) {
    if (file.kind !== 'route' || file.segments === undefined) continue
    const endpoint = `${file.method} ${file.pattern}`
    endpoints.set(endpoint, [...(endpoints.get(endpoint) ?? []), file.file])
  }
  return [...endpoints]
    .filter(([, owners]) => owners.length > 1)
    .map(([endpoint, owners]) =>
      diagnostic(owners, {
        code: 'MORTAR_ROUTE_DUPLICATE',
        found: `are ${owners.length === 2 ? 'both' : 'all'} the endpoint ${endpoint}`,
        remedy: 'Keep one of them, or give the others another path or method.',
      }),
    )
}

/** Parent path → segment text → place. A folder and a file of one name are one place. */
function siblingPlaces(files: readonly PlannedFile[]): Map<string, Map<string, Place>> {
  const parents = new Map<string, Map<string, Place>>()
  for (const { file, segments = [] } of files) {
    let parent = ''
    for (const segment of segments) {
      const places = parents.get(parent) ?? new Map<string, Place>()
      parents.set(parent, places)
      if (!places.has(segment.raw)) places.set(segment.raw, { segment, file })
      parent += `/${segment.raw}`
    }
  }
  return parents
}

function secondNames(places: readonly Place[]): StartupError[] {
  return (['param', 'catch-all'] as const).flatMap((kind) => {
    const named = places.filter(({ segment }) => segment.kind === kind)
    if (named.length < 2) return []
    return [
      diagnostic(filesOf(named), {
        code: 'MORTAR_ROUTE_PARAMETER_NAMES',
        found: `have ${named.length === 2 ? 'two' : named.length} names for one position of the path: ${namesOf(named)}`,
        remedy: `Use one name for all of them, such as ${named[0]!.segment.raw}.`,
      }),
    ]
  })
}

function secondSpellings(places: readonly Place[]): StartupError[] {
  const spellings = new Map<string, Place[]>()
  for (const place of places.filter(({ segment }) => segment.kind === 'static')) {
    const folded = place.segment.name.toLowerCase()
    spellings.set(folded, [...(spellings.get(folded) ?? []), place])
  }
  return [...spellings.values()]
    .filter((group) => group.length > 1)
    .map((group) =>
      diagnostic(filesOf(group), {
        code: 'MORTAR_ROUTE_CASE',
        found: `have names that differ in case only: ${namesOf(group)}`,
        remedy:
          'Paths are case-sensitive and some file systems are not: use the same case for both, preferably lower case.',
      }),
    )
}

function filesOf(places: readonly Place[]): string[] {
  return places.map(({ file }) => file)
}

function namesOf(places: readonly Place[]): string {
  return listWords(places.map(({ segment }) => `"${segment.raw}"`))
}
