import type { AuthEvents } from '@mortar/auth'

/** Every event that a request can emit, for a test that listens to all. */
export const EVENT_TYPES = [
  'auth.signup.succeeded',
  'auth.signup.failed',
  'auth.signup.limited',
  'auth.login.succeeded',
  'auth.login.failed',
  'auth.login.limited',
  'auth.token.refreshed',
  'auth.token.refused',
  'auth.token.reused',
  'auth.token.limited',
  'auth.logout',
  'auth.logout.failed',
  'auth.password.changed',
  'auth.password.change.failed',
  'auth.password.change.limited',
  'auth.password.reset.requested',
  'auth.password.reset.request.limited',
  'auth.password.reset.request.failed',
  'auth.password.reset.mail.failed',
  'auth.password.reset.succeeded',
  'auth.password.reset.failed',
  'auth.password.reset.limited',
  'auth.csrf.refused',
  'auth.password.unusable',
] as const satisfies (keyof AuthEvents)[]

/** Every event of a feature. */
export const FEATURE_EVENT_TYPES = [
  'auth.confirmed',
  'auth.confirm.failed',
  'auth.confirm.limited',
  'auth.session.ended',
  'auth.session.end.failed',
  'auth.session.end.limited',
  'auth.mail.failed',
] as const satisfies (keyof AuthEvents)[]
