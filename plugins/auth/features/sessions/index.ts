/** Entry `@mortar/auth/sessions`: users see and end their own sessions. */
import { NotFound } from 'mortar'
import { checkOptions, inTime } from 'mortar/kit'
import type { RecordRow } from '../../accounts/records.ts'
import { deviceName } from '../../accounts/device-name.ts'
import { asOwner, attemptOf, type OwnAttempt } from '../as-owner.ts'
import type { AuthFeature, FeatureKit } from '../feature.ts'
import type { Caller, Grant, OwnSession } from '../../flows/proof.ts'
import type { OwnSessions, ShownSession } from './own-sessions.ts'
import { sessionRoutes } from './routes.ts'
import { SESSION_DETAILS } from './table.ts'

/** Longest part of a `User-Agent` that is stored. */
const LONGEST_AGENT = 255

/** Options of `sessions`. */
export interface SessionsOptions {
  /**
   * Returns the place of an address of a client, such as a country, for the list. An error, or more than a second, leaves the
   * place out.
   */
  readonly place?: (ip: string) => string | undefined | PromiseLike<string | undefined>
}

/**
 * Three routes with which users see and end their sessions (ASVS 7.5.2). It needs `recent()`, because ending a session
 * needs a recent proof. Browser and address of a session are stored when it begins.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an invalid option.
 */
export function sessions(options: SessionsOptions = {}): AuthFeature {
  checkOptions(options, { of: 'sessions()', brick: 'auth', keys: { place: 'function' } })
  return {
    name: 'sessions',
    requires: ['recent'],
    tables: [SESSION_DETAILS],
    routes: [sessionRoutes()],
    connect(kit) {
      const details = kit.records(SESSION_DETAILS)
      return {
        api: createOwnSessions(
          kit,
          (ids) => details.find({ session_id: { anyOf: ids } }),
          createPlaces(options.place),
        ),
        admitted: (grant, _, caller) => details.insert(detailsOf(grant, caller, kit.clock.now())),
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

/** Milliseconds for which the list waits for the places. */
const PATIENCE = 1000

/** Creates the look-up of places: one call for each address. */
function createPlaces(place: SessionsOptions['place']) {
  return async (addresses: readonly unknown[]): Promise<ReadonlyMap<unknown, string | undefined>> => {
    const ips = place ? [...new Set(addresses)].filter((ip) => typeof ip === 'string') : []
    const lookUp = async (ip: string) => place!(ip)
    const late = () => new Error('The place was not found in time.')
    const found = await Promise.allSettled(ips.map((ip) => inTime(lookUp(ip), PATIENCE, late)))
    return new Map(found.map((each, at) => [ips[at], each.status === 'fulfilled' ? each.value : undefined]))
  }
}

function createOwnSessions(
  kit: FeatureKit,
  findDetails: (ids: readonly string[]) => Promise<readonly RecordRow[]>,
  placesOf: ReturnType<typeof createPlaces>,
): OwnSessions {
  const ending = (own: OwnSession, caller: Caller): OwnAttempt => ({
    flow: 'endSession',
    rule: 'sessions',
    own,
    caller,
  })
  return {
    async list(own) {
      const active = await kit.sessions.list(await kit.sessions.owner(own))
      // By session, because a user may have more ended sessions than one look-up returns.
      const rows = active.length === 0 ? [] : await findDetails(active.map(({ id }) => id))
      const details = new Map(rows.map((row) => [row['session_id'], row]))
      const places = await placesOf(active.map(({ id }) => details.get(id)?.['ip']))
      return active.map(({ id, createdAt, rotatedAt, expiresAt }): ShownSession => {
        const { agent, ip } = details.get(id) ?? {}
        return {
          id,
          current: id === own.sessionId,
          device: deviceName(typeof agent === 'string' ? agent : undefined),
          ip: typeof ip === 'string' ? ip : null,
          place: places.get(ip) ?? null,
          signedInAt: new Date(createdAt).toISOString(),
          lastUsedAt: new Date(rotatedAt).toISOString(),
          endsAt: new Date(expiresAt).toISOString(),
        }
      })
    },
    end: (id, own, caller) =>
      asOwner(kit, ending(own, caller), async (user) => {
        const isOwn = (await kit.sessions.list(user)).some((session) => session.id === id)
        if (!isOwn || !(await kit.sessions.end(id))) throw new NotFound('You have no such session.')
      }),
    endOthers: (own, caller) =>
      kit.attempt(attemptOf(ending(own, caller)), async () => {
        // Another change of the account, of which some keep this session.
        while (!(await kit.sessions.endOthers(await kit.sessions.owner(own), own.sessionId)));
      }),
  }
}
