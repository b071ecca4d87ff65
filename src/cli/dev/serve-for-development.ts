import { setTimeout as wait } from 'node:timers/promises'
import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import { loadEnvFiles } from '../../support/env/env-files.ts'
import { describeImportsWithoutExtension } from '../project/imports-without-extension.ts'
import { findProject } from '../project/project.ts'
import { serve } from '../project/serve.ts'
import type { ProjectApp } from '../project/import-app.ts'
import { holdRequests } from './hold-requests.ts'
import { loadRoutesLater } from './load-later.ts'
import { markResponses } from './mark-responses.ts'
import { tell, type ToServer } from './messages.ts'
import { namingMissingPackages } from '../project/missing-packages.ts'
import { acceptPassedConnections, type PassedConnections } from './passed-connections.ts'

/** Milliseconds within which `server.ts` has to listen. */
const PATIENCE = 60_000

/** Options of the serving process. */
export interface ServingOptions {
  /** Values of `--app` and `--routes`. */
  readonly values: Readonly<Record<string, string>>
  /** True if the watching process says when to start, and passes connections. */
  readonly waits: boolean
}

/**
 * Runs the serving process of `mortar dev`: starts the application as `server.ts` does, and imports its route files when
 * requests need them. Ends together with the watching process.
 * @param canClose called when the end of the watching process closes the application.
 */
export async function serveForDevelopment(options: ServingOptions, canClose: () => void): Promise<void> {
  const { values, waits } = options
  const begin = performance.now()
  const project = findProject({ values, directory: process.cwd() })
  loadEnvFiles(project.root)
  const connections = waits ? acceptPassedConnections() : undefined
  // Bun and Deno import TypeScript without tsx, and faster.
  const later = waits ? loadRoutesLater() : undefined
  const release = later && holdRequests(later)
  const app = await serve(project)
  closeWhenTold(app, connections)
  canClose()
  const url = await whenListening(app)
  tell({ type: 'ready', url, pages: pagesOf(app), milliseconds: Math.round(performance.now() - begin) })
  if (later !== undefined) await namingMissingPackages(project, () => later.finish())
  release?.()
  const imports = describeImportsWithoutExtension(project)
  if (imports !== undefined)
    app.warn(`Imports have no file extension, so that the build will fail: ${imports}.`)
  const broken = brokenFiles(app)
  if (broken === undefined) return
  markResponses(broken.message)
  tell({ type: 'broken', message: broken.message })
}

function closeWhenTold(app: ProjectApp, connections: PassedConnections | undefined): void {
  const close = async (): Promise<void> => {
    connections?.limit()
    await app.close()
    process.exit(0)
  }
  process.once('disconnect', () => void close())
  process.on('message', ({ type }: ToServer) => {
    if (type === 'close') void close()
  })
}

function brokenFiles({ batches }: ProjectApp): StartupError | undefined {
  const errors = new Set(batches.flatMap(({ broken }) => [...(broken?.values() ?? [])]))
  return errors.size === 0
    ? undefined
    : new StartupErrors(`${errors.size} findings in the route files:`, [...errors])
}

/** Waits until the application listens, because `server.ts` may not await it. */
async function whenListening(app: ProjectApp): Promise<string> {
  const deadline = performance.now() + PATIENCE
  while (app.listening === undefined) {
    if (performance.now() > deadline)
      throw new StartupError('The application was started but does not listen.', {
        code: 'MORTAR_CLI_SERVER',
        remedy: 'End server.ts with `await app.listen(port, host)`.',
      })
    await wait(20)
  }
  return app.listening.url
}

function pagesOf(app: ProjectApp): Record<string, string> {
  const labelled = app.routes.flatMap(({ page, path }) => (page === undefined ? [] : [[page, path] as const]))
  // The framework's own routes are the last ones; their pages come first.
  return Object.fromEntries(labelled.toReversed())
}
