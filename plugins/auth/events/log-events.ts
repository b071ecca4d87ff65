import { createHmac } from 'node:crypto'
import type { EventBus, Logger } from 'mortar'
import type { AuthEvents } from './events.ts'

type Level = 'info' | 'warn' | 'error'

/** Level of each event: `warn` for events to inspect, `error` for faults to repair. */
const LEVELS: Readonly<Record<keyof AuthEvents, Level>> = {
  'auth.signup.succeeded': 'info',
  'auth.signup.failed': 'info',
  'auth.signup.limited': 'warn',
  'auth.login.succeeded': 'info',
  'auth.login.failed': 'info',
  'auth.login.limited': 'warn',
  'auth.token.refreshed': 'info',
  'auth.token.refused': 'info',
  'auth.token.reused': 'warn',
  'auth.token.limited': 'warn',
  'auth.logout': 'info',
  'auth.logout.failed': 'info',
  'auth.password.changed': 'info',
  'auth.password.change.failed': 'info',
  'auth.password.change.limited': 'warn',
  'auth.password.reset.requested': 'info',
  'auth.password.reset.request.failed': 'info',
  'auth.password.reset.request.limited': 'warn',
  'auth.password.reset.mail.failed': 'error',
  'auth.password.reset.succeeded': 'info',
  'auth.password.reset.failed': 'info',
  'auth.password.reset.limited': 'warn',
  'auth.confirmed': 'info',
  'auth.confirm.failed': 'info',
  'auth.confirm.limited': 'warn',
  'auth.session.ended': 'info',
  'auth.session.end.failed': 'info',
  'auth.session.end.limited': 'warn',
  'auth.mail.failed': 'error',
  'auth.csrf.refused': 'warn',
  'auth.password.unusable': 'warn',
  'auth.sessions.unknown': 'error',
  'auth.sessions.known': 'info',
}

/**
 * Logs each event of the auth brick with its request id and client address (ASVS 16.2.1, 16.3.1). An e-mail address is
 * logged as `account`, a keyed hash: lines about one account can be matched, and the log contains no address.
 */
export function logAuthEvents(events: EventBus<AuthEvents>, logger: Logger, key: Buffer): void {
  for (const type of Object.keys(LEVELS) as (keyof AuthEvents)[])
    events.on(type, (event) => {
      const { ip, email, ...fields }: Readonly<Record<string, unknown>> = { ...event }
      const line = {
        event: type,
        ...fields,
        ...(typeof ip === 'string' && { address: ip }),
        ...(typeof email === 'string' && { account: pseudonym(key, email) }),
      }
      logger[levelOf(type, fields['reason'])](line, type)
    })
}

function levelOf(type: keyof AuthEvents, reason: unknown): Level {
  return reason === 'busy' || reason === 'error' ? 'warn' : LEVELS[type]
}

function pseudonym(key: Buffer, email: string): string {
  return createHmac('sha256', key).update(`log\0${email}`).digest('base64url').slice(0, 16)
}
