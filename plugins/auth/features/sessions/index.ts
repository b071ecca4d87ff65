/** Entry `@mortar/auth/sessions`: users see and end their own sessions. */
import { NotFound } from 'mortar'
import type { RecordRow } from '../../accounts/records.ts'
import { deviceName } from '../../accounts/device-name.ts'
import { sessionOver } from '../../errors.ts'
import type { AuthFeature, FeatureAttempt, FeatureKit } from '../feature.ts'
import type { Caller, Grant } from '../../flows/proof.ts'
import type { OwnSession } from '../../flows/change-password.ts'
import type { OwnSessions, ShownSession } from './own-sessions.ts'
import { sessionRoutes } from './routes.ts'
import { SESSION_DETAILS } from './table.ts'

/** Longest part of a `User-Agent` that is stored. */
const LONGEST_AGENT = 255

/**
 * Three routes with which users see and end their sessions (ASVS 7.5.2). It needs `recent()`, because ending a session
 * needs a recent proof. Browser and address of a session are stored when it begins.
 */
export function sessions(): AuthFeature {
  return {
    name: 'sessions',
    requires: ['recent'],
    tables: [SESSION_DETAILS],
    routes: [sessionRoutes()],
    connect(kit) {
      const details = kit.records(SESSION_DETAILS)
      return {
        api: createOwnSessions(kit, (userId) => details.find({ user_id: userId })),
        admitted: (grant, _proof, caller) => details.insert(detailsOf(grant, caller, kit.clock.now())),
        tidy: (now) => details.remove({ expires_at: { atMost: now } }),
      }
    },
  }
}

function detailsOf({ sessionId, user, refreshAge }: Grant, caller: Caller, now: number): RecordRow {
  return {
    session_id: sessionId,
    user_id: user.id,
    agent: caller.get?.('user-agent')?.slice(0, LONGEST_AGENT) ?? null,
    ip: caller.ip,
    created_at: now,
    expires_at: now + refreshAge * 1000,
  }
}

function createOwnSessions(
  kit: FeatureKit,
  findDetails: (userId: string) => Promise<readonly RecordRow[]>,
): OwnSessions {
  const ofOwner = async ({ userId, sessionId }: OwnSession) => {
    const user = await kit.sessions.findOwner(sessionId, userId)
    if (user === null) throw sessionOver()
    return kit.sessions.list(user)
  }
  const attempt = (own: OwnSession, caller: Caller): FeatureAttempt => ({
    flow: 'endSession',
    rule: 'sessions',
    caller,
    known: { ...own },
    counted: { user: own.userId },
  })
  return {
    async list(own) {
      const [active, rows] = await Promise.all([ofOwner(own), findDetails(own.userId)])
      const details = new Map(rows.map((row) => [row['session_id'], row]))
      return active.map(({ id, createdAt, rotatedAt, expiresAt }): ShownSession => {
        const { agent, ip } = details.get(id) ?? {}
        return {
          id,
          current: id === own.sessionId,
          device: deviceName(typeof agent === 'string' ? agent : undefined),
          ip: typeof ip === 'string' ? ip : null,
          signedInAt: new Date(createdAt).toISOString(),
          lastUsedAt: new Date(rotatedAt).toISOString(),
          endsAt: new Date(expiresAt).toISOString(),
        }
      })
    },
    end: (id, own, caller) =>
      kit.attempt(attempt(own, caller), async () => {
        const isOwn = (await ofOwner(own)).some((session) => session.id === id)
        if (!isOwn || !(await kit.sessions.end(id))) throw new NotFound('You have no such session.')
      }),
    endOthers: (own, caller) =>
      kit.attempt(attempt(own, caller), async () => {
        for (const { id } of await ofOwner(own)) if (id !== own.sessionId) await kit.sessions.end(id)
      }),
  }
}
