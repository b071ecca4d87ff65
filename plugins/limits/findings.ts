import { processShare, type DoctorFinding, type Environment, type Limiter, type Logger } from 'mortar'
import { STARTUP_CODES } from './startup-codes.ts'

const CODE = 'MORTAR_LIMITS_MEMORY'

/** Returns the findings for `mortar doctor`: limits of one process in production. */
export function limitsFindings(limiter: Limiter, environment: Environment): readonly DoctorFinding[] {
  if (limiter.isShared || environment !== 'production') return []
  const { count } = processShare()
  return [
    {
      level: count > 1 ? 'warning' : 'note',
      code: CODE,
      found: `Limits are counted in memory, so a client has each limit once per process${count > 1 ? ` (${count} processes)` : ''}.`,
      remedy: STARTUP_CODES[CODE].remedy,
      page: 'docs/limits.md#stores',
    },
  ]
}

/** Logs a warning if several processes of this machine count alone. */
export function warnOfMemory(
  limiter: Limiter,
  { environment, logger }: { readonly environment: Environment; readonly logger: Logger },
): void {
  const { count, number } = processShare()
  if (limiter.isShared || environment !== 'production' || count < 2 || number !== 1) return
  logger.warn(
    { brick: 'limits', code: CODE },
    `Limits are counted in memory, so a client has each limit ${count} times. ${STARTUP_CODES[CODE].remedy}`,
  )
}
