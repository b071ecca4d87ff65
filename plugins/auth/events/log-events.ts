import { createHmac } from 'node:crypto'
import type { CoreServices, EventBus, Outages } from 'mortar'
import type { AuthEvents } from './events.ts'
import { OUTCOMES, type OutcomeEvent } from './outcomes.ts'

type Level = 'info' | 'warn'

/** Events of failures of other servers, which are logged as such. */
const OUTAGES = {
  'auth.sessions.unknown': 'The list of ended sessions cannot be read',
  'auth.password.reset.mail.failed': 'A reset mail could not be sent',
  'auth.mail.failed': 'A mail about an account could not be sent',
} as const

type OutageEvent = keyof typeof OUTAGES | 'auth.sessions.known'

/** Events beside those of the ends of flows. */
const OTHERS: Readonly<Record<Exclude<keyof AuthEvents, OutageEvent | OutcomeEvent>, Level>> = {
  'auth.token.reused': 'warn',
  'auth.email.changed': 'info',
  'auth.login.challenged': 'info',
  'auth.recovery.used': 'info',
  'auth.factor.unreadable': 'warn',
  'auth.user.deleted': 'info',
  'auth.passkey.copied': 'warn',
  'auth.csrf.refused': 'warn',
  'auth.password.unusable': 'warn',
}

/** Level of each event: `warn` for events to inspect. */
const LEVELS: ReadonlyMap<keyof AuthEvents, Level> = new Map([
  ...Object.values(OUTCOMES).flatMap(({ succeeded, failed, limited }) => [
    [succeeded, succeeded === 'auth.notice.denied' ? 'warn' : 'info'] as const,
    // A logout has no limit, so its name of a limit is that of a failure.
    [limited, 'warn'] as const,
    [failed, 'info'] as const,
  ]),
  ...(Object.entries(OTHERS) as [keyof typeof OTHERS, Level][]),
])

/** Every event about accounts and attempts. */
export const ACCOUNT_EVENTS: readonly (keyof AuthEvents)[] = [...LEVELS.keys()]

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

function levelOf(type: keyof AuthEvents, reason: unknown): Level {
  return reason === 'busy' || reason === 'error' ? 'warn' : LEVELS.get(type)!
}

function pseudonym(key: Buffer, email: string): string {
  return createHmac('sha256', key).update(`log\0${email}`).digest('base64url').slice(0, 16)
}
