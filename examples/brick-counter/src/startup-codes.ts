import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Page that explains the codes. `mortar doctor` prints it. */
export const PAGE = 'https://github.com/example/mortar-brick-counter#codes'

/** Codes of start-up errors and of findings of `mortar doctor`. The README has the same table. */
export const STARTUP_CODES = {
  COUNTER_LIMIT: {
    cause: '`limit` is not a whole number above 0',
    remedy: 'Write a whole number above 0, such as counter({ limit: 100 }).',
  },
  COUNTER_LOW_LIMIT: {
    cause: '`limit` is below 10 in production',
    remedy: 'Set COUNTER_LIMIT to 10 or more.',
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'counter', codes: STARTUP_CODES, page: PAGE })
