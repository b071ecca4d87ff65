import { createHmac } from 'node:crypto'
import type { CoreServices, EventBus, Outages } from 'mortar'
import type { AuthEvents } from './events.ts'

type Level = 'info' | 'warn'

/** Events of failures of other servers, which are logged as such. */
const OUTAGES = {
  'auth.sessions.unknown': 'The list of ended sessions cannot be read',
  'auth.password.reset.mail.failed': 'A reset mail could not be sent',
  'auth.mail.failed': 'A mail about an account could not be sent',
} as const

type OutageEvent = keyof typeof OUTAGES | 'auth.sessions.known'

/** Level of each other event: `warn` for events to inspect. */
const LEVELS: Readonly<Record<Exclude<keyof AuthEvents, OutageEvent>, Level>> = {
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
  'auth.password.reset.succeeded': 'info',
  'auth.password.reset.failed': 'info',
  'auth.password.reset.limited': 'warn',
  'auth.confirmed': 'info',
  'auth.confirm.failed': 'info',
  'auth.confirm.limited': 'warn',
  'auth.session.ended': 'info',
  'auth.session.end.failed': 'info',
  'auth.session.end.limited': 'warn',
  'auth.email.verified': 'info',
  'auth.email.verify.failed': 'info',
  'auth.email.verify.limited': 'warn',
  'auth.email.link.requested': 'info',
  'auth.email.link.request.failed': 'info',
  'auth.email.link.request.limited': 'warn',
  'auth.email.change.requested': 'info',
  'auth.email.change.request.failed': 'info',
  'auth.email.change.request.limited': 'warn',
  'auth.email.changed': 'info',
  'auth.login.challenged': 'info',
  'auth.factor.requested': 'info',
  'auth.factor.added': 'info',
  'auth.factor.removed': 'info',
  'auth.factor.failed': 'info',
  'auth.factor.limited': 'warn',
  'auth.recovery.renewed': 'info',
  'auth.recovery.used': 'info',
  'auth.factor.unreadable': 'warn',
  'auth.social.succeeded': 'info',
  'auth.social.failed': 'info',
  'auth.social.limited': 'warn',
  'auth.account.linked': 'info',
  'auth.account.unlinked': 'info',
  'auth.account.failed': 'info',
  'auth.account.limited': 'warn',
  'auth.deletion.requested': 'info',
  'auth.deletion.failed': 'info',
  'auth.deletion.limited': 'warn',
  'auth.deletion.cancelled': 'info',
  'auth.deletion.cancel.failed': 'info',
  'auth.deletion.cancel.limited': 'warn',
  'auth.user.deleted': 'info',
  'auth.export.succeeded': 'info',
  'auth.export.failed': 'info',
  'auth.export.limited': 'warn',
  'auth.ticket.issued': 'info',
  'auth.ticket.failed': 'info',
  'auth.ticket.limited': 'warn',
  'auth.notice.denied': 'warn',
  'auth.notice.deny.failed': 'info',
  'auth.notice.deny.limited': 'warn',
  'auth.passkey.succeeded': 'info',
  'auth.passkey.failed': 'info',
  'auth.passkey.limited': 'warn',
  'auth.passkey.added': 'info',
  'auth.passkey.removed': 'info',
  'auth.passkey.copied': 'warn',
  'auth.csrf.refused': 'warn',
  'auth.password.unusable': 'warn',
}

/** Every event about accounts and attempts. */
export const ACCOUNT_EVENTS = Object.keys(LEVELS) as readonly (keyof typeof LEVELS)[]

/**
 * Logs each event of the auth brick with its request id and client address (ASVS 16.2.1, 16.3.1). An e-mail address is
 * logged as `account`, a keyed hash: lines about one account can be matched, and the log contains no address.
 */
export function logAuthEvents(
  events: EventBus<AuthEvents>,
  { logger, outages }: Pick<CoreServices, 'logger' | 'outages'>,
  key: Buffer,
): void {
  logOutages(events, outages)
  for (const type of ACCOUNT_EVENTS)
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

interface Failed {
  readonly error: string
  readonly ip?: string
}

function logOutages(events: EventBus<AuthEvents>, outages: Outages): void {
  for (const type of Object.keys(OUTAGES) as (keyof typeof OUTAGES)[])
    events.on(type, ({ error, ip: address, ...fields }: Failed) => {
      const failure = {
        part: type,
        error: new Error(error),
        level: 'error',
        message: OUTAGES[type],
        fields: { event: type, ...(address !== undefined && { address }), ...fields },
      } as const
      if (type === 'auth.sessions.unknown') outages.begin(failure)
      else outages.log(failure)
    })
  events.on('auth.sessions.known', () => outages.end('auth.sessions.unknown'))
}

function levelOf(type: keyof typeof LEVELS, reason: unknown): Level {
  return reason === 'busy' || reason === 'error' ? 'warn' : LEVELS[type]
}

function pseudonym(key: Buffer, email: string): string {
  return createHmac('sha256', key).update(`log\0${email}`).digest('base64url').slice(0, 16)
}
