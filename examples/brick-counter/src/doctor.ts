import type { DoctorFinding, Environment } from 'mortar'
import { PAGE, STARTUP_CODES } from './startup-codes.ts'

/** Findings of the brick for `mortar doctor`: a limit that production reaches quickly. */
export function findLowLimit(limit: number, environment: Environment): readonly DoctorFinding[] {
  if (environment !== 'production' || limit >= 10) return []
  return [
    {
      level: 'warning',
      code: 'COUNTER_LOW_LIMIT' satisfies keyof typeof STARTUP_CODES,
      found: `The counter stops at ${limit}.`,
      remedy: STARTUP_CODES.COUNTER_LOW_LIMIT.remedy,
      page: PAGE,
    },
  ]
}
