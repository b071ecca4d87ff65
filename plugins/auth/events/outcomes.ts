import type { AuthEvents } from './events.ts'

/** Facts that a flow collects about its attempt, for its event. */
export interface Known {
  email?: string
  userId?: string
  sessionId?: string
}

/** The event of each end of a flow. */
interface Outcomes {
  readonly succeeded: keyof AuthEvents
  readonly failed: keyof AuthEvents
  readonly limited: keyof AuthEvents
}

/** Returns the events of a flow; those of a failure and of a limit have the name of the attempt. */
function endsOf<Attempt extends string, Success extends string>(attempt: Attempt, succeeded: Success) {
  return { succeeded, failed: `${attempt}.failed`, limited: `${attempt}.limited` } as const
}

/** The events of each flow. */
export const OUTCOMES = {
  signup: endsOf('auth.signup', 'auth.signup.succeeded'),
  login: endsOf('auth.login', 'auth.login.succeeded'),
  refresh: { succeeded: 'auth.token.refreshed', failed: 'auth.token.refused', limited: 'auth.token.limited' },
  logout: { succeeded: 'auth.logout', failed: 'auth.logout.failed', limited: 'auth.logout.failed' },
  changePassword: endsOf('auth.password.change', 'auth.password.changed'),
  forgot: endsOf('auth.password.reset.request', 'auth.password.reset.requested'),
  reset: endsOf('auth.password.reset', 'auth.password.reset.succeeded'),
  confirm: endsOf('auth.confirm', 'auth.confirmed'),
  endSession: endsOf('auth.session.end', 'auth.session.ended'),
  verifyEmail: endsOf('auth.email.verify', 'auth.email.verified'),
  verifyMail: endsOf('auth.email.link.request', 'auth.email.link.requested'),
  changeEmail: endsOf('auth.email.change.request', 'auth.email.change.requested'),
  factor: endsOf('auth.factor', 'auth.login.succeeded'),
  enrolFactor: endsOf('auth.factor', 'auth.factor.requested'),
  addFactor: endsOf('auth.factor', 'auth.factor.added'),
  removeFactor: endsOf('auth.factor', 'auth.factor.removed'),
  renewRecovery: endsOf('auth.factor', 'auth.recovery.renewed'),
  social: endsOf('auth.social', 'auth.social.succeeded'),
  linkAccount: endsOf('auth.account', 'auth.account.linked'),
  deleteAccount: endsOf('auth.deletion', 'auth.deletion.requested'),
  restoreAccount: endsOf('auth.deletion.cancel', 'auth.deletion.cancelled'),
  exportAccount: endsOf('auth.export', 'auth.export.succeeded'),
  deny: endsOf('auth.notice.deny', 'auth.notice.denied'),
  unlinkAccount: endsOf('auth.account', 'auth.account.unlinked'),
  ticket: endsOf('auth.ticket', 'auth.ticket.issued'),
  passkey: endsOf('auth.passkey', 'auth.passkey.succeeded'),
  addPasskey: endsOf('auth.passkey', 'auth.passkey.added'),
  removePasskey: endsOf('auth.passkey', 'auth.passkey.removed'),
} as const satisfies Readonly<Record<string, Outcomes>>

/** Flows that emit an event. */
export type FlowName = keyof typeof OUTCOMES

/** The events of the ends of all flows. */
export type OutcomeEvent = (typeof OUTCOMES)[FlowName][keyof Outcomes]
