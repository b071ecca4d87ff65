import { existsSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import { isIgnoredFolder } from '../../files/base-name.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import { scanDirectory } from '../../files/scan-directory.ts'
import { METHODS } from '../../routing/route.ts'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { replaceFile } from '../replace-file.ts'
import { findModule, findProject, type Project, PROJECT_OPTIONS, shown } from '../project/project.ts'

/** Writes the file of a new route. */
export const generate: Command = {
  name: 'generate',
  summary: 'Write the file of a new route: generate route GET /notes/:id',
  usage: 'generate route METHOD PATH',
  names: true,
  options: PROJECT_OPTIONS,
  async run(input) {
    const { method, path } = routeOf(input)
    const project = findProject(input)
    const directory = project.routes ?? join(dirname(project.app), 'routes')
    const file = fileOf(method, path)
    await refuseConflict(directory, file)
    const target = join(directory, file)
    replaceFile(target, routeText(project, target, file))
    input.terminal.print(shown(target, input.directory))
    return 0
  },
}

const USAGE = "Write: npx mortar generate route GET '/notes/:id'"

function routeOf({ positionals: [what, ...rest] }: CommandInput): { method: string; path: string } {
  if (what !== 'route') throw new UsageError(`generate only makes routes. ${USAGE}`)
  const [method = '', path = ''] = rest.length === 1 ? ['get', rest[0]!] : rest
  if (rest.length > 2 || !METHODS.includes(method.toUpperCase() as never) || !path.startsWith('/'))
    throw new UsageError(`METHOD is one of ${METHODS.join(', ')}, and PATH begins with a slash. ${USAGE}`)
  for (const segment of path.slice(1).replace(/\/$/, '').split('/')) refuseSegment(segment, path)
  return { method: method.toLowerCase(), path }
}

/** @throws UsageError for a segment that would leave the directory of routes, or that its reader ignores. */
function refuseSegment(segment: string, path: string): void {
  const fault = (reason: string) => new UsageError(`${reason} ${USAGE}`)
  if (segment === '' && path !== '/') throw fault(`The path ${path} has two slashes in a row.`)
  if (isIgnoredFolder(segment))
    throw fault(`The path ${path} has the segment '${segment}', which is never read as a part of a route.`)
  if (segment.includes('%'))
    throw fault(`The path ${path} has the segment '${segment}': write characters without percent-encoding.`)
}

/** Returns the file name of a route: `/notes/:id` and `/notes/[id]` both become `notes/[id].get.ts`. */
function fileOf(method: string, path: string): string {
  const segments = path
    .split('/')
    .filter(Boolean)
    .map((segment) => segment.replace(/^:(.+)$/, '[$1]').replace(/^\*(.+)$/, '[...$1]'))
  const isLeaf = segments.at(-1)?.startsWith('[') === true
  return `${[...segments, ...(isLeaf ? [] : ['index'])].join('/')}.${method}.ts`
}

/**
 * @throws StartupErrors if the new file would break a convention, for example because the endpoint already has a file.
 */
async function refuseConflict(directory: string, file: string): Promise<void> {
  // Some file systems ignore the case of a name.
  if (existsSync(join(directory, file)))
    throw new StartupError(`${file} already exists.`, {
      code: 'MORTAR_CLI_FILE',
      remedy: 'Change it, or give the new route another path or method.',
      files: [file],
    })
  const present = existsSync(directory) ? await scanDirectory(directory) : []
  const problems = planRoutes([...present, file]).problems.filter(({ files }) => files.includes(file))
  if (problems.length > 0) throw new StartupErrors(`${file} was not written:`, problems)
}

/** Renders the file with the application's own `route` function if it has one, so that `ctx` is typed. */
function routeText({ app }: Project, target: string, file: string): string {
  const helper = findModule(dirname(app), 'route')
  const parameters = [...file.matchAll(/\[(?:\.\.\.)?([^\]]+)\]/g)].map(([, name]) => name!)
  const define = helper === undefined ? 'defineRoute' : 'route'
  const schema = parameters.map((name) => `${key(name)}: string().required()`).join(', ')
  const definition = parameters.length === 0 ? '{}' : `{ params: object({ ${schema} }) }`
  const values = parameters.map((name) => `${key(name)}: ctx.params${member(name)}`).join(', ')
  const handler = parameters.length === 0 ? '() => ({ ok: true })' : `(ctx) => ({ ${values} })`
  return [
    ...(parameters.length === 0 ? [] : [`import { object, string } from 'mortar/yup'`]),
    helper === undefined
      ? `import { defineRoute } from 'mortar'`
      : `import { route } from '${importPath(target, helper)}'`,
    '',
    `export default ${define}(${definition}, ${handler})`,
    '',
  ].join('\n')
}

function importPath(from: string, to: string): string {
  return relative(dirname(from), to).split(sep).join('/')
}

const IDENTIFIER = /^[a-z_$][\w$]*$/i

function key(name: string): string {
  return IDENTIFIER.test(name) ? name : `'${name}'`
}

function member(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `['${name}']`
}
