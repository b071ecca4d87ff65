/** Entry `@mortar/auth/audit`: the events of accounts, as a table. */
import type { Duration } from 'mortar'
import { checkOptions } from 'mortar/kit'
import type { AuthEvents } from '../../events/events.ts'
import { ACCOUNT_EVENTS } from '../../events/log-events.ts'
import { lifetime } from '../../options/options.ts'
import type { AuthFeature } from '../feature.ts'
import { createAuditList } from './audit-list.ts'
import { createAuditWriter } from './audit-writer.ts'
import { AUDIT } from './table.ts'

/** Options of `audit`. */
export interface AuditOptions {
  /** Time for which an entry is kept: 1 day to 10 years. Seconds or a duration; 400 days by default. */
  readonly keep?: Duration
}

const DAY = 86_400
/** Each client of a session emits it every quarter of an hour. */
const FREQUENT: keyof AuthEvents = 'auth.token.refreshed'

/**
 * Stores the events of accounts (ASVS 16.3.1), after the fact: no request waits for an entry, or fails with it. Entries have
 * no secret and no address of e-mail, and go with their user.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an invalid option.
 */
export function audit(options: AuditOptions = {}): AuthFeature {
  checkOptions(options, { of: 'audit()', brick: 'auth', keys: { keep: ['number', 'string'] } })
  const keep = lifetime('keep', options.keep ?? '400d', DAY, 3653 * DAY)
  return {
    name: 'audit',
    tables: [AUDIT],
    connect(kit) {
      const records = kit.records(AUDIT)
      const writer = createAuditWriter(kit, records, keep * 1000)
      for (const type of ACCOUNT_EVENTS)
        if (type !== FREQUENT) kit.events.on(type, (event) => writer.write(type, { ...event }))
      return {
        audit: createAuditList(records),
        settled: writer.settled,
      }
    },
  }
}
