import { problemErrors, type Problems } from 'mortar/kit'

/** The problem codes that callers can receive. The README has the same table. */
export const PROBLEMS = {
  counter_full: { status: 409, title: 'Counter full' },
} as const satisfies Problems

/** Makes an error with one of these codes. */
export const problem = problemErrors(PROBLEMS)
