import { randomBytes } from 'node:crypto'
import {
  createRateLimits,
  type LimitReached,
  type LimitRule,
  type LimitSubject,
  type RateLimits,
  type RateLimitsOptions,
} from '../../../../plugins/auth/limits/rate-limits.ts'
import { createMemoryLimiter } from '../../../../src/limits/memory-limiter.ts'
import { TestClock } from '../support/clock.ts'

export const ADA: LimitSubject = { ip: '192.0.2.1', email: 'ada@example.com' }
export const LOGIN_WITHOUT_IP = { limits: { login: { ip: false } } } as const

/** Limits of their own, and their clock. */
export function setUp({
  capacity,
  ...options
}: Partial<RateLimitsOptions> & { readonly capacity?: number } = {}) {
  const clock = new TestClock()
  const limiter = createMemoryLimiter({ clock, ...(capacity !== undefined && { capacity }) })
  return { clock, limits: createRateLimits({ key: randomBytes(32), limiter, ...options }) }
}

/** Makes concurrent attempts. @returns the rejections; the others were allowed. */
export async function burst(
  limits: RateLimits,
  rule: LimitRule,
  subjects: readonly LimitSubject[],
): Promise<LimitReached[]> {
  const outcomes = await Promise.allSettled(subjects.map((subject) => limits.attempt(rule, subject)))
  return outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as LimitReached] : []))
}

export const times = (count: number, subject: LimitSubject = ADA): LimitSubject[] =>
  Array.from({ length: count }, () => subject)
export const fromManyIps = (count: number, email = 'ada@example.com'): LimitSubject[] =>
  Array.from({ length: count }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}`, email }))
