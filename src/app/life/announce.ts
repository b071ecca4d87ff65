import { isIP } from 'node:net'
import { unknownMode } from '../../support/env/environment.ts'
import { processShare } from '../../support/env/process-share.ts'
import type { Listening } from '../app.ts'
import type { AssemblyContext } from '../assembly-context.ts'
import type { ResolvedOptions } from '../options.ts'

/** Follows the maintenance mode, before the first request can arrive, and logs where the application listens. */
export function beginToServe(
  server: Pick<Listening, 'url' | 'host'>,
  { maintenance, options }: Pick<AssemblyContext, 'maintenance' | 'options'>,
): void {
  maintenance.follow()
  announce(server, options)
}

/**
 * Outside production, logs where the application listens. Warns about a `NODE_ENV` that is not a mode, and about a
 * development server that other machines can reach. In production an application without a request log never loads the
 * logger only for this (15 ms, some MB).
 */
function announce(
  { url, host }: Pick<Listening, 'url' | 'host'>,
  { environment, reporter }: Pick<ResolvedOptions, 'environment' | 'reporter'>,
): void {
  // Every worker listens at the same address.
  if (environment === 'production' || processShare().number > 1) return
  reporter.info({ url, host }, `Listening at ${url}`)
  if (environment !== 'development') return
  const mode = unknownMode()
  if (mode !== undefined)
    reporter.warn(
      `NODE_ENV is '${mode}', which is not development, test or production, so the application runs as development: ` +
        'responses show the messages of unexpected errors. Set NODE_ENV=production to serve others.',
    )
  if (isThisMachineOnly(host)) return
  reporter.warn(
    `This development server listens on ${host}, so other machines can reach it: they see the messages of unexpected ` +
      'errors. The pages of bricks under /_framework/ stay closed to them unless an option of their brick opens them. ' +
      'Set HOST=127.0.0.1 to keep it to this machine, or NODE_ENV=production to serve others.',
  )
}

/** True for loopback (127.0.0.0/8, ::1) and for a Unix socket. */
function isThisMachineOnly(host: string): boolean {
  return isIP(host) === 0 || host === '::1' || host.startsWith('127.') || host.startsWith('::ffff:127.')
}
