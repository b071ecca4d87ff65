import type { Policy } from 'mortar'
import { METHODS } from '../../flows/sessions.ts'
import type { FeaturePoints } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import { SESSION_METHODS } from './table.ts'
import { refused } from '../../refusals.ts'

/** The methods of a session with a second factor after `first`, named as in RFC 8176. */
export function withFactor(factor: 'otp' | 'rcv', first: readonly string[] = METHODS): readonly string[] {
  return [...first, factor, 'mfa']
}

/** The policy `mfa`: a session that began with two factors. */
export const MFA: Policy = ({ session }) => {
  if (session?.methods.includes('mfa') !== true) throw refused('factor_required')
  return true
}

/**
 * Notes the methods of sessions that began with more, or something else, than a password, so that a refreshed token has
 * them too. A session whose row is
 * missing counts as one with a password alone.
 */
export function createSessionMethods(kit: FeatureKit) {
  const records = kit.records(SESSION_METHODS)
  return {
    async admitted({ sessionId, user, refreshAge }, { methods }) {
      if (methods === undefined || methods.join() === METHODS.join()) return
      const now = kit.clock.now()
      const row = { session_id: sessionId, user_id: user.id, methods: methods.join(' ') }
      await records.insert({ ...row, created_at: now, expires_at: now + refreshAge * 1000 })
    },
    async methodsOf(sessionId) {
      const [row] = await records.find({ session_id: sessionId })
      return row && String(row['methods']).split(' ')
    },
  } satisfies FeaturePoints
}
