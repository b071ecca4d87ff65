import type { DoctorFinding } from '../contracts/doctor-finding.ts'
import type { Logger } from '../contracts/logger.ts'
import type { Environment } from '../support/env/environment.ts'
import { processShare } from '../support/env/process-share.ts'

const CODE = 'MORTAR_LIMITS_MEMORY'
const REMEDY =
  'Count for all processes together: register a brick with the service limiter and a store in Redis or the database.'

/** Returns the findings for `mortar doctor` of a brick whose limits are counted in the memory of each process. */
export function memoryLimitFindings(environment: Environment): readonly DoctorFinding[] {
  if (environment !== 'production') return []
  const { count } = processShare()
  const level = count > 1 ? 'warning' : 'note'
  return [{ level, code: CODE, found: describe(count), remedy: REMEDY, page: 'docs/limits.md#stores' }]
}

/** Logs a warning if several processes of this machine count alone. Only the first of them logs. */
export function warnOfMemoryLimits(
  brick: string,
  { environment, logger }: { readonly environment: Environment; readonly logger: Logger },
): void {
  const { count, number } = processShare()
  if (environment !== 'production' || count < 2 || number !== 1) return
  logger.warn({ brick, code: CODE }, `${describe(count)} ${REMEDY}`)
}

function describe(count: number): string {
  const times = count > 1 ? `${count} times` : 'once per process'
  return `Limits are counted in memory, so a client has each limit ${times}.`
}
