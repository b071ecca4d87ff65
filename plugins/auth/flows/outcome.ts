import type { EventBus, HttpError } from 'mortar'
import { isHttpError } from 'mortar/kit'
import { isDatabaseAway, PasswordRefused, SecondFactorRequired, TokenReused } from '../errors.ts'
import { OUTCOMES, type FlowName, type Known } from '../events/outcomes.ts'
import type { FeatureAttempt } from '../features/feature.ts'
import { LimitReached } from '../limits/rate-limits.ts'
import { tell } from './admit.ts'
import { eventOrigin, type AuthParts } from './parts.ts'

/** The attempt that an event describes. */
export type Attempt = Pick<FeatureAttempt, 'flow' | 'caller' | 'known'>

export type { FlowName, Known }

type Emitter = Pick<AuthParts, 'events' | 'features' | 'outages'>

/**
 * Runs a flow and emits exactly one event for each of its ends (ASVS 16.3.1), except for a database that is away. The
 * event of a success contains user and session; the event of a failure also contains the reason and the address.
 */
export async function withEvent<T>(parts: Emitter, attempt: Attempt, run: () => Promise<T>): Promise<T> {
  const result = await withFailureEvent(parts, attempt, run)
  const { flow, known } = attempt
  const { email, ...ids } = known
  emit(parts, OUTCOMES[flow].succeeded, attempt, { ...(flow === 'forgot' && { email }), ...ids })
  return result
}

/** Runs the first part of a flow, which emits an event only when it fails. */
export async function withFailureEvent<T>(
  parts: Emitter,
  attempt: Attempt,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isHttpError(error) || error.status === 503)
      await tell(parts, 'failed', (feature) => feature.failed?.(attempt.caller))
    // Nobody has failed at anything, and the request is logged as unavailable.
    if (isDatabaseAway(error)) throw error
    const { type, fields } = failureOf(attempt.flow, error)
    emit(parts, type, attempt, { ...attempt.known, ...fields })
    throw error
  }
}

function emit({ events }: Emitter, type: string, { caller }: Attempt, fields: object): void {
  // Each event type has its own fields; the table above and the flows provide them.
  const bus = events as unknown as EventBus<Record<string, object>>
  bus.emit(type, { ...eventOrigin(caller), ...fields })
}

function failureOf(flow: FlowName, error: unknown): { readonly type: string; readonly fields: object } {
  const { failed, limited } = OUTCOMES[flow]
  if (!isHttpError(error)) return { type: failed, fields: { reason: 'error' } }
  if (error instanceof LimitReached) return { type: limited, fields: { scope: error.scope } }
  if ((flow === 'login' || flow === 'social') && error instanceof SecondFactorRequired)
    return { type: 'auth.login.challenged', fields: {} }
  if (error instanceof TokenReused) return { type: 'auth.token.reused', fields: error.session }
  return { type: failed, fields: { reason: reasonOf(error) } }
}

/** Returns the code of a refusal; `busy` if too many hashes wait, `error` for a failure of the server. */
function reasonOf(error: HttpError): string {
  if (error instanceof PasswordRefused) return 'weak_password'
  if (error.status === 503) return 'busy'
  // 502 is a failure of another server.
  return error.status < 500 || error.status === 502 ? error.code : 'error'
}
