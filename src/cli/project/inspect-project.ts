import type { Inspection } from '../../app/app.ts'
import type { StartupError } from '../../errors/startup-error.ts'
import { readDirectory } from '../../files/load-routes.ts'
import type { MiddlewareScope } from '../../routing/route.ts'
import { loadEnvFiles } from '../../support/env/env-files.ts'
import { processVariables } from '../../support/env/environment.ts'
import { collectProblems } from '../../support/env/placeholders.ts'
import { importApp, type ProjectApp } from './import-app.ts'
import { importTogether } from './import-together.ts'
import { allowTypeScript } from './import-typescript.ts'
import { namingMissingPackages } from './missing-packages.ts'
import type { Project } from './project.ts'

/** An application that was assembled without being started. */
export interface InspectedProject extends Inspection {
  /** Middleware of directories and routers. */
  readonly scopes: readonly MiddlewareScope[]
  /** Faults of the environment; placeholders replace the invalid values. */
  readonly problems: readonly StartupError[]
}

/**
 * Assembles an application without starting it: no connection is opened, and no environment variable is needed.
 * @throws StartupError for any fault of the application itself.
 */
export async function inspectProject(project: Project): Promise<InspectedProject> {
  processVariables()['FRAMEWORK_MODE'] = 'inspect'
  const { result, problems } = await collectProblems(() =>
    namingMissingPackages(project, async () => {
      const app = await importProject(project)
      await addRoutes(app, project.routes)
      return { ...(await app.inspect()), scopes: app.batches.flatMap(({ scopes }) => scopes) }
    }),
  )
  return { ...result, problems }
}

/** An application that was assembled for a command, and the loading of its files of routes. */
export interface AssembledProject extends Inspection {
  loadRoutes(): Promise<void>
}

/** Assembles an application for a command that uses its real services. */
export async function assembleProject(project: Project): Promise<AssembledProject> {
  processVariables()['FRAMEWORK_MODE'] = 'command'
  const app = await namingMissingPackages(project, () => importProject(project))
  return { ...(await app.inspect()), loadRoutes: () => addRoutes(app, project.routes) }
}

/**
 * Reads the `.env` files of a project and imports its application.
 * @throws StartupError `MORTAR_CLI_APP` when its module does not export one.
 */
async function importProject(project: Project): Promise<ProjectApp> {
  loadEnvFiles(project.root)
  if (/\.m?ts$/.test(project.app)) await allowTypeScript(project.root)
  return importApp(project.app, ', or name another module with --app')
}

/** Loads the routes by a scan, because the sources are inspected, unless the application has loaded them itself. */
async function addRoutes(app: ProjectApp, directory: string | undefined): Promise<void> {
  if (directory === undefined || app.batches.some((batch) => batch.directory === directory)) return
  await importTogether(directory)
  app.addRoutes(await readDirectory(directory, (message) => app.warn(message)))
}
