import { pathToFileURL } from 'node:url'
import type { App } from '../../app/app.ts'
import type { ResolvedOptions } from '../../app/options.ts'
import { StartupError } from '../../errors/startup-error.ts'
import type { RouteBatch } from '../../routing/route-sink.ts'

/** The application as the CLI uses it: the public interface and the directories of its routes. */
export type ProjectApp = App & {
  readonly batches: readonly RouteBatch[]
  /** Limits of its close, in seconds, and its logger. */
  readonly closeLimits: Pick<ResolvedOptions, 'shutdownTimeout' | 'drainDelay' | 'logger'>
  replaceRoutes(batch: RouteBatch): void
}

/**
 * Imports the application of a module.
 * @param alternative to an export of that name, for the remedy.
 * @throws StartupError `MORTAR_CLI_APP` when the module does not export one.
 */
export async function importApp(file: string, alternative = ''): Promise<ProjectApp> {
  const { app } = (await import(pathToFileURL(file).href)) as { readonly app?: Partial<ProjectApp> }
  if (typeof app?.inspect === 'function' && Array.isArray(app.batches)) return app as ProjectApp
  throw new StartupError(`${file} does not export an application named app.`, {
    code: 'MORTAR_CLI_APP',
    remedy: `Write \`export const app = createApp(…)\` in that file${alternative}.`,
    files: [file],
  })
}
