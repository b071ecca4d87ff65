import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { StartupError } from '../../errors/startup-error.ts'
import { loadEnvFiles } from '../../support/env/env-files.ts'
import { findProject } from '../project/project.ts'
import { serve } from '../project/serve.ts'
import type { ProjectApp } from '../project/inspect-project.ts'
import type { FromServer, ToServer } from './messages.ts'
import { createReloader, type Reloader } from './reload.ts'

/** Header of every response while a route file is broken. Its value is the first line of the error. */
const BROKEN_HEADER = 'X-Mortar-Broken'

/** Milliseconds within which `server.ts` has to listen. */
const PATIENCE = 60_000

/**
 * Runs the serving process of `mortar dev`: starts the application as `server.ts` does, and swaps routes after the
 * watching process reports changed files. Ends together with the watching process.
 * @param options values of `--app` and `--routes`.
 */
export async function serveForDevelopment(options: Readonly<Record<string, string>>): Promise<void> {
  const begin = performance.now()
  const project = findProject({ values: options, directory: process.cwd() })
  loadEnvFiles(project.root)
  const app = await serve(project)
  process.once('disconnect', () => void app.close().then(() => process.exit(0)))
  const url = await whenListening(app)
  const reloaders = await Promise.all(
    app.batches.map(({ directory }) => createReloader(app, directory ?? '')),
  )
  receive(reloaders)
  tell({ type: 'ready', url, routes: app.routes.length, pages: pagesOf(app), milliseconds: since(begin) })
}

/** Runs reloads one after another, because files may change again during a reload. */
function receive(reloaders: readonly Reloader[]): void {
  let broken: string | undefined
  let queue = Promise.resolve()
  subscribe('http.server.request.start', (message) => {
    const { response } = message as { readonly response: ServerResponse }
    if (broken !== undefined) response.setHeader(BROKEN_HEADER, broken)
  })
  process.on('message', ({ files }: ToServer) => {
    queue = queue.then(async () => {
      const begin = performance.now()
      try {
        for (const reloader of reloaders) await reloader.reload(files)
        broken = undefined
        tell({ type: 'reloaded', files, milliseconds: since(begin) })
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        broken = headerText(text)
        const unforeseen = error instanceof Error && !(error instanceof StartupError)
        tell({
          type: 'broken',
          message: unforeseen ? (error.stack ?? text) : text,
          milliseconds: since(begin),
        })
      }
    })
  })
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

/** Replaces all but printable ASCII, which would make the response fail. */
function headerText(text: string): string {
  const line = text
    .split('\n')
    .map((part) => part.trim())
    .join(' ')
  return line.replaceAll(/[^\u0020-\u007E]/g, '?').slice(0, 500)
}

function tell(message: FromServer): void {
  process.send?.(message)
}

function since(begin: number): number {
  return Math.round(performance.now() - begin)
}
