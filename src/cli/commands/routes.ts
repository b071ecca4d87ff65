import { join } from 'node:path'
import { prefixOf } from '../../files/diagnostics.ts'
import type { BrickEntry } from '../../routing/brick-entry.ts'
import { createScopes, type Scopes } from '../../routing/middleware-scopes.ts'
import type { AuthRequirement, Route } from '../../routing/route.ts'
import type { Command } from '../command.ts'
import { inspectProject } from '../project/inspect-project.ts'
import { findProject, type Project, PROJECT_OPTIONS, shown } from '../project/project.ts'
import { inColumns } from '../../support/columns.ts'

/** One route as `mortar routes --json` prints it. */
export interface ListedRoute {
  readonly method: string
  readonly path: string
  /** Protocol that its connections change to: `websocket`. Missing for any other route. */
  readonly upgrade?: string
  /** The file relative to the project, or another origin such as `brick 'auth'`. */
  readonly file: string
  /** As declared: `false` for a public route, `true` for any signed-in user, else the policies. */
  readonly guard: AuthRequirement
  /** Validated parts of the request: `params`, `query`, `headers`, `body`. */
  readonly schemas: readonly string[]
  /** Statuses that have a response schema. */
  readonly responses: readonly number[]
  /**
   * Middleware around the route, outermost first: files of directories, and functions of the route's router. The routers
   * of a brick are its own matter.
   */
  readonly middleware: readonly string[]
}

/** Lists every route that the application serves, and the entry points of bricks, such as jobs. */
export const routes: Command = {
  name: 'routes',
  summary: 'List every route: method, path, file, guard, schemas; and every job',
  usage: 'routes [--json]',
  options: { ...PROJECT_OPTIONS, json: { type: 'boolean', help: 'print JSON' } },
  async run(input) {
    const project = findProject(input)
    const inspection = await inspectProject(project)
    const scopes = createScopes()
    for (const scope of inspection.scopes) scopes.add(scope)
    const listed = inspection.routes.map((route) => listedRoute(route, project, scopes)).toSorted(byPath)
    const entries = (await inspection.entries()).map(({ file, messages: _schemas, ...entry }) => ({
      ...entry,
      ...(file !== undefined && { file: shown(file, project.root) }),
    }))
    const text = [asTable(listed), ...tablesOf(entries)].join('\n\n')
    input.terminal.print(
      input.values['json'] === true ? JSON.stringify([...listed, ...entries], null, 2) : text,
    )
    return 0
  },
}

function listedRoute(route: Route, project: Project, scopes: Scopes): ListedRoute {
  const { method, path, definition, origin, upgrade } = route
  const own = origin.startsWith('brick ') ? [] : route.middleware
  const locations = ['params', 'query', 'headers', 'body'] as const
  const directions = ['receive', 'send'] as const
  return {
    method,
    path,
    ...(upgrade !== undefined && { upgrade: upgrade.protocol }),
    file: fileOf(origin, project),
    guard: definition.auth ?? false,
    schemas: [
      ...locations.filter((location) => definition[location] !== undefined),
      ...directions.filter((direction) => upgrade?.messages?.[direction] !== undefined),
    ],
    responses: Object.keys(definition.response ?? {}).map(Number),
    middleware: [...scopes.chainFor(path), ...own].map((each) => fileOf(each.origin, project)),
  }
}

/** Returns the path of a route file relative to the project; its origin begins with `prefixOf` the directory. */
function fileOf(origin: string, { root, routes: directory }: Project): string {
  if (directory === undefined || !origin.startsWith(prefixOf(directory))) return origin
  return shown(join(directory, origin.slice(prefixOf(directory).length)), root)
}

function byPath(a: ListedRoute, b: ListedRoute): number {
  const [first, second] = [`${a.path} ${a.method}`, `${b.path} ${b.method}`]
  return first < second ? -1 : first > second ? 1 : 0
}

function asTable(listed: readonly ListedRoute[]): string {
  const rows = listed.map(({ method, path, upgrade, guard, schemas, responses, file, middleware }) => [
    upgrade === undefined ? method : `${method} ${upgrade}`,
    path,
    guardText(guard),
    [...schemas, ...responses].join(' ') || '-',
    middleware.length === 0 ? file : `${file}, in ${middleware.toReversed().join(', ')}`,
  ])
  return inColumns([['METHOD', 'PATH', 'GUARD', 'SCHEMAS', 'FILE'], ...rows])
}

/** One table for each kind of entry. */
function tablesOf(entries: readonly BrickEntry[]): readonly string[] {
  const kinds = [...new Set(entries.map(({ kind }) => kind))]
  return kinds.map((kind) => {
    const rows = entries
      .filter((entry) => entry.kind === kind)
      .map(({ name, settings, file = '' }) => [
        name,
        Object.entries(settings)
          .map(([key, value]) => `${key} ${value}`)
          .join(', ') || '-',
        file,
      ])
    return inColumns([[kind.toUpperCase(), 'SETTINGS', 'FILE'], ...rows])
  })
}

function guardText(guard: AuthRequirement): string {
  if (typeof guard === 'boolean') return guard ? 'signed in' : '-'
  return typeof guard === 'string' ? guard : guard.join(' + ')
}
