import type { AuthEvents } from './events.ts'

/** Flows that emit an event. */
export type FlowName =
  | 'signup'
  | 'login'
  | 'refresh'
  | 'logout'
  | 'changePassword'
  | 'forgot'
  | 'reset'
  | 'confirm'
  | 'endSession'
  | 'verifyEmail'
  | 'verifyMail'
  | 'changeEmail'
  | 'factor'
  | 'enrolFactor'
  | 'addFactor'
  | 'removeFactor'
  | 'renewRecovery'
  | 'social'
  | 'linkAccount'
  | 'unlinkAccount'
  | 'deleteAccount'
  | 'restoreAccount'
  | 'exportAccount'
  | 'ticket'
  | 'deny'
  | 'passkey'
  | 'addPasskey'
  | 'removePasskey'

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
  readonly limited?: keyof AuthEvents
}

const OF_ACCOUNTS = { failed: 'auth.account.failed', limited: 'auth.account.limited' } as const
const OF_PASSKEYS = { failed: 'auth.passkey.failed', limited: 'auth.passkey.limited' } as const
const OF_FACTORS = { failed: 'auth.factor.failed', limited: 'auth.factor.limited' } as const

/** The events of each flow. */
export const OUTCOMES: Readonly<Record<FlowName, Outcomes>> = {
  signup: {
    succeeded: 'auth.signup.succeeded',
    failed: 'auth.signup.failed',
    limited: 'auth.signup.limited',
  },
  login: { succeeded: 'auth.login.succeeded', failed: 'auth.login.failed', limited: 'auth.login.limited' },
  refresh: { succeeded: 'auth.token.refreshed', failed: 'auth.token.refused', limited: 'auth.token.limited' },
  logout: { succeeded: 'auth.logout', failed: 'auth.logout.failed' },
  changePassword: {
    succeeded: 'auth.password.changed',
    failed: 'auth.password.change.failed',
    limited: 'auth.password.change.limited',
  },
  forgot: {
    succeeded: 'auth.password.reset.requested',
    failed: 'auth.password.reset.request.failed',
    limited: 'auth.password.reset.request.limited',
  },
  reset: {
    succeeded: 'auth.password.reset.succeeded',
    failed: 'auth.password.reset.failed',
    limited: 'auth.password.reset.limited',
  },
  confirm: {
    succeeded: 'auth.confirmed',
    failed: 'auth.confirm.failed',
    limited: 'auth.confirm.limited',
  },
  endSession: {
    succeeded: 'auth.session.ended',
    failed: 'auth.session.end.failed',
    limited: 'auth.session.end.limited',
  },
  verifyEmail: {
    succeeded: 'auth.email.verified',
    failed: 'auth.email.verify.failed',
    limited: 'auth.email.verify.limited',
  },
  verifyMail: {
    succeeded: 'auth.email.link.requested',
    failed: 'auth.email.link.request.failed',
    limited: 'auth.email.link.request.limited',
  },
  changeEmail: {
    succeeded: 'auth.email.change.requested',
    failed: 'auth.email.change.request.failed',
    limited: 'auth.email.change.request.limited',
  },
  factor: { ...OF_FACTORS, succeeded: 'auth.login.succeeded' },
  enrolFactor: { ...OF_FACTORS, succeeded: 'auth.factor.requested' },
  addFactor: { ...OF_FACTORS, succeeded: 'auth.factor.added' },
  removeFactor: { ...OF_FACTORS, succeeded: 'auth.factor.removed' },
  renewRecovery: { ...OF_FACTORS, succeeded: 'auth.recovery.renewed' },
  social: {
    succeeded: 'auth.social.succeeded',
    failed: 'auth.social.failed',
    limited: 'auth.social.limited',
  },
  linkAccount: { ...OF_ACCOUNTS, succeeded: 'auth.account.linked' },
  deleteAccount: {
    succeeded: 'auth.deletion.requested',
    failed: 'auth.deletion.failed',
    limited: 'auth.deletion.limited',
  },
  restoreAccount: {
    succeeded: 'auth.deletion.cancelled',
    failed: 'auth.deletion.cancel.failed',
    limited: 'auth.deletion.cancel.limited',
  },
  exportAccount: {
    succeeded: 'auth.export.succeeded',
    failed: 'auth.export.failed',
    limited: 'auth.export.limited',
  },
  deny: {
    succeeded: 'auth.notice.denied',
    failed: 'auth.notice.deny.failed',
    limited: 'auth.notice.deny.limited',
  },
  unlinkAccount: { ...OF_ACCOUNTS, succeeded: 'auth.account.unlinked' },
  ticket: { succeeded: 'auth.ticket.issued', failed: 'auth.ticket.failed', limited: 'auth.ticket.limited' },
  passkey: { ...OF_PASSKEYS, succeeded: 'auth.passkey.succeeded' },
  addPasskey: { ...OF_PASSKEYS, succeeded: 'auth.passkey.added' },
  removePasskey: { ...OF_PASSKEYS, succeeded: 'auth.passkey.removed' },
}
