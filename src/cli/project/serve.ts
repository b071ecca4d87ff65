import { pathToFileURL } from 'node:url'
import { endWithProcess } from '../../app/life/end-with-process.ts'
import { loadRoutes } from '../../files/load-routes.ts'
import { env } from '../../support/env/env.ts'
import { importApp, type ProjectApp } from './import-app.ts'
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
  const app = await importApp(file)
  if (server !== undefined || app.listening !== undefined) return app
  if (routes !== undefined && app.batches.length === 0) await loadRoutes(app, routes)
  const { url } = await app.listen(env.port('PORT', { default: 3000 }))
  if (app.environment === 'production') process.stdout.write(`${url}\n`)
  return app
}

/**
 * Starts an application without its routes, and lets its bricks work in the background until a signal ends the process.
 * @param port of the health probes; without it nothing listens.
 */
export function workInBackground(file: string, port: number | undefined): Promise<void> {
  return namingMissingPackages({ app: file, server: undefined, routes: undefined }, async () => {
    const app = await importApp(file)
    if (port !== undefined) return void (await app.listen(port))
    // No load balancer has to notice the end.
    endWithProcess({ ...app.closeLimits, drainDelay: 0 }, (how) => app.close(how))
    await app.ready()
    // Nothing else may keep the process, such as an idle SQLite database.
    setInterval(() => undefined, LONG)
  })
}

const LONG = 2 ** 30
