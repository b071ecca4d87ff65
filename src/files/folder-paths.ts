import { StartupError } from '../errors/startup-error.ts'
import { checkDefinition } from '../routing/check-definition.ts'
import type { Finding } from '../routing/finding.ts'
import { parameterNames, parsePattern } from '../routing/path-pattern.ts'
import { createRouteTable, type Match } from '../routing/route-table.ts'
import type { FolderFile } from './import-folder.ts'
import { parseFileName } from './parse-file-name.ts'

/** Keys of the default export of a file that have the rules of a route. */
export interface GuardedFile {
  readonly auth?: unknown
  readonly params?: unknown
}

/** Files of a folder by their paths, with the rules of route files: `rooms/[id].ts` is `/rooms/:id`. */
export interface FolderPaths<T> {
  /**
   * Adds a file and returns its pattern.
   * @throws StartupError for a broken name, a path of another file, an `auth` of an unknown shape, and a schema `params` that
   * does not fit the path.
   */
  add(file: FolderFile, definition: GuardedFile, target: T): string
  /** @throws BadRequest `malformed_path` for a malformed escape. */
  find(path: string): Match<T> | undefined
}

/** Creates a table without files. */
export function createFolderPaths<T>(): FolderPaths<T> {
  const table = createRouteTable<T>()
  return {
    add(file, definition, target) {
      const pattern = patternOf(file)
      const parameters = parameterNames(parsePattern(pattern, file.path))
      const [finding] = checkDefinition({ ...definition }, { method: 'GET', parameters })
      if (finding !== undefined) throw faultOf(file, finding)
      table.add('GET', pattern, target, file.path)
      return pattern
    },
    find: (path) => table.find('GET', path),
  }
}

/** @throws StartupError for a broken name. */
function patternOf(file: FolderFile): string {
  // The rules are those of a route of any method.
  const parsed = parseFileName(`${file.name}.get.ts`)
  const { plan, faults } = parsed.kind === 'planned' ? parsed : { plan: undefined, faults: [] }
  const [fault] = faults
  if (fault === undefined && plan !== undefined) return plan.pattern
  throw faultOf(file, fault?.finding ?? NO_PATH)
}

const NO_PATH: Finding = {
  code: 'MORTAR_ROUTE_CHARACTER',
  found: 'has a name that is not a path',
  remedy: 'Rename the file.',
}

function faultOf({ path }: FolderFile, { code, found, remedy }: Finding): StartupError {
  return new StartupError(`${path} ${found}.`, { code, remedy, files: [path] })
}
