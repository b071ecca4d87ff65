import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { StartupError } from '../../errors/startup-error.ts'
import { ignore } from '../../support/ignore.ts'
import { isInside, type Project, shown } from '../project/project.ts'
import { tell, type ToServer } from './messages.ts'
import type { ModuleVersions } from './module-versions.ts'
import type { Reloader } from './reload.ts'
import { isRouteFile } from './sort-changes.ts'

/** Header of every response while a route file is broken. Its value is the first line of the error. */
const BROKEN_HEADER = 'X-Mortar-Broken'

/** The parts of the serving process that a change concerns. */
export interface Followed {
  readonly project: Project
  readonly reloaders: readonly Reloader[]
  readonly versions: ModuleVersions
  /** The error of the routes that were broken at the start. */
  readonly broken: StartupError | undefined
}

/** Milliseconds that `server.ts` has to end after a change, if it has not ended before. */
const PATIENCE = 3000

/**
 * Reloads routes after the watching process reports changed files, or asks it for a restart. Reloads run one after
 * another, because files may change again during a reload. They wait for the end of the start, because the application
 * serves requests a little earlier.
 * @param served resolves when `server.ts` has ended. If that takes too long, the change restarts the process.
 */
export function followChanges(served: Promise<unknown>, starting: Promise<Followed>): void {
  const reloading = starting.then((followed) => ({ ...followed, reload: createReload(followed) }))
  let broken: string | undefined
  reloading.then((followed) => (broken = followed.broken && headerText(followed.broken.message)), ignore)
  let queue = Promise.resolve()
  subscribe('http.server.request.start', (message) => {
    const { response } = message as { readonly response: ServerResponse }
    if (broken !== undefined) response.setHeader(BROKEN_HEADER, broken)
  })

  async function follow(paths: readonly string[]): Promise<void> {
    const begin = performance.now()
    const milliseconds = (): number => Math.round(performance.now() - begin)
    if (!(await hasEnded(served))) return tell({ type: 'restart', paths })
    const { project, reload } = await reloading
    try {
      if (!(await reload(paths))) return tell({ type: 'restart', paths })
      broken = undefined
      const files = paths.map((path) => shown(path, project.root))
      tell({ type: 'reloaded', files, milliseconds: milliseconds() })
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      broken = headerText(text)
      const unforeseen = error instanceof Error && !(error instanceof StartupError)
      const message = unforeseen ? (error.stack ?? text) : text
      tell({ type: 'broken', message, isStart: false })
    }
  }

  process.on('message', (message: ToServer) => {
    if (message.type === 'changed') queue = queue.then(() => follow(message.paths)).catch(ignore)
  })
}

function hasEnded(served: Promise<unknown>): Promise<boolean> {
  return Promise.race([served.then(() => true), wait(PATIENCE, false, { ref: false })])
}

/** Creates the reload of changed files, which returns false if only a restart can apply the change. */
function createReload({ project, reloaders, versions }: Followed) {
  const { routes } = project
  const isRoute = (path: string): boolean =>
    routes !== undefined && isInside(path, routes) && isRouteFile(shown(path, routes))
  /** Modules of a failed reload, which Node would not evaluate again. */
  const unsettled = new Set<string>()
  let version = 0

  return async (paths: readonly string[]): Promise<boolean> => {
    if (routes === undefined) return false
    const graph = await versions.graph()
    const isKnown = (path: string): boolean =>
      isRoute(path) || graph.has(path) || (unsettled.size > 0 && isInside(path, routes))
    const affected = paths.every(isKnown) ? graph.importersOf(paths, isRoute) : undefined
    if (affected === undefined) return false
    for (const path of affected) unsettled.add(path)
    await versions.renew(
      [...unsettled].filter((path) => !isRoute(path)),
      ++version,
    )
    const files = [...unsettled].filter(isRoute).map((path) => shown(path, routes))
    for (const reloader of reloaders) await reloader.reload(files, version)
    unsettled.clear()
    return true
  }
}

/** Replaces all but printable ASCII, which would make the response fail. */
function headerText(text: string): string {
  const line = text
    .split('\n')
    .map((part) => part.trim())
    .join(' ')
  return line.replaceAll(/[^\u0020-\u007E]/g, '?').slice(0, 500)
}
