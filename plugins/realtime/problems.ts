import { problemErrors, type Problems } from 'mortar/kit'

/** The problem codes that callers can receive; `docs/realtime.md` has the same table. */
export const PROBLEMS = {
  origin_refused: { status: 403, title: 'Origin not allowed' },
  too_many_sockets: { status: 429, title: 'Too many sockets' },
  sockets_full: { status: 503, title: 'No socket left' },
} as const satisfies Problems

/** Makes an error with one of these codes. */
export const problem = problemErrors(PROBLEMS)
