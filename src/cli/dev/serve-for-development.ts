import { setTimeout as wait } from 'node:timers/promises'
import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import { loadEnvFiles } from '../../support/env/env-files.ts'
import { describeImportsWithoutExtension } from '../project/imports-without-extension.ts'
import { findProject } from '../project/project.ts'
import { serve } from '../project/serve.ts'
import type { ProjectApp } from '../project/inspect-project.ts'
import { type Followed, followChanges } from './follow-changes.ts'
import { tell, type ToServer } from './messages.ts'
import { holdRequests } from './hold-requests.ts'
import { type LaterRoutes, loadRoutesLater } from './load-later.ts'
import { namingMissingPackages } from '../project/missing-packages.ts'
import { followModules } from './module-versions.ts'
import { acceptPassedConnections, type PassedConnections } from './passed-connections.ts'
import { createReloader } from './reload.ts'

/** Milliseconds within which `server.ts` has to listen. */
const PATIENCE = 60_000

/** Options of the serving process. */
export interface ServingOptions {
  /** Values of `--app` and `--routes`. */
  readonly values: Readonly<Record<string, string>>
  /** True if the watching process passes connections. */
  readonly passesConnections: boolean
}

/**
 * Runs the serving process of `mortar dev`: starts the application as `server.ts` does, and swaps routes after the
 * watching process reports changed files. Ends together with the watching process.
 */
export async function serveForDevelopment({ values, passesConnections }: ServingOptions): Promise<void> {
  const begin = performance.now()
  const project = findProject({ values, directory: process.cwd() })
  loadEnvFiles(project.root)
  const connections = passesConnections ? acceptPassedConnections() : undefined
  const versions = followModules(project.root)
  // Bun and Deno import TypeScript without tsx, and faster.
  const later = passesConnections ? loadRoutesLater() : undefined
  const release = later && holdRequests(later)
  const serving = serve(project)
  const starting = serving.then((app) => prepare({ app, project, versions, connections, later }))
  followChanges(serving, starting)
  const { app, url, broken } = await starting
  release?.()
  tell({ type: 'ready', url, routes: app.routes.length, pages: pagesOf(app), milliseconds: since(begin) })
  if (broken !== undefined) tell({ type: 'broken', message: broken.message, isStart: true })
}

interface Prepared extends Followed {
  readonly app: ProjectApp
  readonly url: string
}

interface Served extends Pick<Followed, 'project' | 'versions'> {
  readonly app: ProjectApp
  readonly connections: PassedConnections | undefined
  readonly later: LaterRoutes | undefined
}

/** Prepares the end and the reloads of an application that listens or is about to. */
async function prepare({ app, project, versions, connections, later }: Served): Promise<Prepared> {
  const close = async (): Promise<void> => {
    connections?.limit()
    await app.close()
    process.exit(0)
  }
  process.once('disconnect', () => void close())
  process.on('message', ({ type }: ToServer) => {
    if (type === 'close') void close()
  })
  const url = await whenListening(app)
  if (later !== undefined) await namingMissingPackages(project, () => later.finish())
  const reloaders = await Promise.all(app.batches.map((batch) => createReloader(app, batch)))
  const imports = describeImportsWithoutExtension(project)
  if (imports !== undefined)
    app.warn(`Imports have no file extension, so that the build will fail: ${imports}.`)
  return { app, url, project, reloaders, versions, broken: brokenAtStart(app) }
}

function brokenAtStart({ batches }: ProjectApp): StartupError | undefined {
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

function since(begin: number): number {
  return Math.round(performance.now() - begin)
}
