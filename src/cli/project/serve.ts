import { pathToFileURL } from 'node:url'
import { StartupError } from '../../errors/startup-error.ts'
import { loadRoutes } from '../../files/load-routes.ts'
import { env } from '../../support/env/env.ts'
import type { ProjectApp } from './inspect-project.ts'
import { namingMissingPackages } from './missing-packages.ts'
import type { Project } from './project.ts'

/**
 * Starts an application by its `server` module. Without one, loads its routes and listens at `HOST` and `PORT`.
 * @returns the application, which listens or is about to.
 */
export function serve(project: Pick<Project, 'app' | 'server' | 'routes'>): Promise<ProjectApp> {
  return namingMissingPackages(project, () => startApplication(project))
}

async function startApplication({
  app: file,
  server,
  routes,
}: Pick<Project, 'app' | 'server' | 'routes'>): Promise<ProjectApp> {
  if (server !== undefined) await import(pathToFileURL(server).href)
  const { app } = (await import(pathToFileURL(file).href)) as { readonly app?: ProjectApp }
  if (typeof app?.listen !== 'function') throw noApp(file)
  if (server !== undefined || app.listening !== undefined) return app
  if (routes !== undefined && app.batches.length === 0) await loadRoutes(app, routes)
  const { url } = await app.listen(env.port('PORT', { default: 3000 }))
  if (app.environment === 'production') process.stdout.write(`${url}\n`)
  return app
}

function noApp(file: string): StartupError {
  return new StartupError(`${file} does not export an application named app.`, {
    code: 'MORTAR_CLI_APP',
    remedy: 'Write `export const app = createApp(…)` in that file.',
    files: [file],
  })
}
