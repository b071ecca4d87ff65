import { problemErrors, type Problems } from 'mortar/kit'

/** The problem codes of the database brick; `docs/errors.md` has the same table. */
export const PROBLEMS = {
  database_busy: { status: 503, title: 'Database busy' },
  database_unavailable: { status: 503, title: 'Database unavailable' },
  invalid_text: { status: 422, title: 'Invalid text' },
  missing_column: { status: 500, title: 'Missing column' },
  missing_table: { status: 500, title: 'Missing table' },
  value_refused: { status: 500, title: 'Value refused' },
} as const satisfies Problems

/** Makes an error with one of these codes. */
export const problem = problemErrors(PROBLEMS)
