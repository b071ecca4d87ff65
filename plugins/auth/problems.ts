import type { Problems } from 'mortar/kit'

/** The problem codes of authentication; `docs/errors.md` has the same table. */
export const PROBLEMS = {
  invalid_credentials: { status: 401, title: 'Invalid credentials' },
  invalid_session: { status: 401, title: 'Invalid session' },
  password_changed: { status: 401, title: 'Password changed' },
  invalid_reset_token: { status: 401, title: 'Invalid reset token' },
  invalid_verification_token: { status: 401, title: 'Invalid verification token' },
  email_unverified: { status: 403, title: 'E-mail address unverified' },
  reauthentication_required: { status: 403, title: 'Reauthentication required' },
  second_factor_required: { status: 401, title: 'Second factor required' },
  invalid_code: { status: 401, title: 'Invalid code' },
  invalid_challenge: { status: 401, title: 'Invalid challenge' },
  factor_required: { status: 403, title: 'Factor required' },
  totp_exists: { status: 409, title: 'Authenticator exists' },
  totp_missing: { status: 409, title: 'Authenticator missing' },
  email_taken: { status: 409, title: 'E-mail address taken' },
  session_state_unknown: { status: 503, title: 'Session state unknown' },
} as const satisfies Problems
