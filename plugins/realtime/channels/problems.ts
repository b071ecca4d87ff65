import { problemErrors, type Problems } from 'mortar/kit'

/** The problem codes that callers can receive; `docs/errors.md` has the same table. */
export const PROBLEMS = {
  already_subscribed: { status: 409, title: 'Already subscribed' },
  too_many_channels: { status: 429, title: 'Too many channels' },
} as const satisfies Problems

/** Makes an error with one of these codes. */
export const problem = problemErrors(PROBLEMS)
