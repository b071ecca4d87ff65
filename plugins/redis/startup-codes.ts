import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors of the redis brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_REDIS_OPTION: {
    cause: 'An option of the redis brick is invalid',
    remedy: 'Fix the option that the message names.',
  },
  MORTAR_REDIS_REFUSED: {
    cause: 'Redis refuses the user, the password or the database number',
    remedy: 'Fix user, password and database in `REDIS_URL`: `redis://user:password@host:6379/0`.',
  },
  MORTAR_REDIS_UNREACHABLE: {
    cause: 'Redis does not respond at the start',
    remedy: 'Start Redis, or fix the address in `REDIS_URL`.',
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'redis', codes: STARTUP_CODES })
