import { processShare, type Cradle, type DoctorFinding } from 'mortar'
import type { PasswordAuthOptions } from '../options/options.ts'
import { STARTUP_CODES } from '../startup-codes.ts'

const CODE = 'MORTAR_AUTH_LIMITS_MEMORY'

/** Returns the findings for `mortar doctor`: several processes of this machine count the sign-in alone. */
export function memoryLimitFindings(
  options: PasswordAuthOptions,
  services: Cradle,
): readonly DoctorFinding[] {
  const { count } = processShare()
  if (!countsAlone(options, services)) return []
  const { remedy } = STARTUP_CODES[CODE]
  return [
    { level: 'warning', code: CODE, found: describe(count), remedy, page: 'docs/auth.md#where-limits-count' },
  ]
}

/** Logs a warning if several processes of this machine count the sign-in alone. Only the first of them logs. */
export function warnOfMemoryLimits(options: PasswordAuthOptions, services: Cradle): void {
  const { count, number } = processShare()
  if (number === 1 && countsAlone(options, services))
    services.logger.warn({ brick: 'auth', code: CODE }, `${describe(count)} ${STARTUP_CODES[CODE].remedy}`)
}

/** True without a store for all processes. A service `limiter` is judged by the brick that has it. */
function countsAlone({ limits, redis }: PasswordAuthOptions, services: Cradle): boolean {
  if (limits === false || redis !== undefined || Object.hasOwn(services, 'limiter')) return false
  return services.environment === 'production' && processShare().count > 1
}

function describe(count: number): string {
  return `Limits of the sign-in are counted in memory, so a client has each limit ${count} times.`
}
