import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import type { RouteSink } from '../routing/route-sink.ts'
import { ignore } from '../support/ignore.ts'
import { byCodeUnits, prefixOf, shownFrom } from './diagnostics.ts'
import { importModules, type ImportModule } from './import-modules.ts'
import { readPlan } from './load-plan.ts'
import { planRoutes } from './plan-routes.ts'
import type { ModuleExports } from './read-module.ts'
import { scanDirectory, type ReadFolder } from './scan-directory.ts'

/**
 * Adds the routes of a directory with broken files. A broken route or middleware throws its error, so that nothing is
 * served past a broken guard. A file whose name has no route, or the second of two files for one route, is left out.
 * @throws StartupError for a fault that no file causes, such as a package that is not installed.
 */
export async function loadAround(
  sink: RouteSink,
  directory: string,
  { readFolder, importModule }: { readonly readFolder?: ReadFolder; readonly importModule?: ImportModule },
): Promise<void> {
  const left = new Set((await scanDirectory(directory, readFolder)).toSorted(byCodeUnits))
  const files = planRoutes([...left]).files.map(({ file }) => file)
  const imported = await importModules(directory, files, importModule)
  const modules = new Map(imported.modules)
  const broken = new Map<string, StartupError>()

  /**
   * Handles the files of an error, which begin with a prefix: the path of the directory, in an error about the origin of
   * a route. A folder in the directory may have that path too.
   * @returns false if it names none that is left.
   */
  function handle(error: StartupError, prefix = ''): boolean {
    const named = error.files.map((file) => withoutPrefix(file, prefix)).filter((file) => left.has(file))
    const fresh = named.filter((file) => !broken.has(file))
    for (const file of fresh) {
      broken.set(file, error)
      modules.set(file, brokenModule(error))
    }
    return fresh.length > 0 || left.delete(named.at(-1) ?? '')
  }

  for (const problem of shownFrom(directory, imported.problems)) if (!handle(problem)) throw problem
  for (;;) {
    let prefix = ''
    try {
      const planned = { directory, plan: planRoutes([...left]), warn: ignore }
      const batch = readPlan(planned, { modules, problems: [] })
      prefix = prefixOf(directory)
      return sink.addRoutes({ ...batch, broken: byOrigin(broken, directory) })
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      const handled = errorsOf(error).map((each) => handle(each, prefix))
      if (!handled.includes(true)) throw error
    }
  }
}

/** A module in place of a broken one: a route, which reads no body, or middleware for everything below it. */
function brokenModule(fault: StartupError): ModuleExports {
  return { default: () => Promise.reject(fault), consumes: [] }
}

function errorsOf(error: StartupError): readonly StartupError[] {
  return error instanceof StartupErrors ? error.errors : [error]
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}

function byOrigin(broken: ReadonlyMap<string, StartupError>, directory: string): Map<string, StartupError> {
  return new Map([...broken].map(([file, error]) => [prefixOf(directory) + file, error]))
}
