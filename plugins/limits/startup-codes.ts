import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors and doctor findings of the limits brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_LIMITS_OPTION: {
    cause: 'An option of the limits brick is invalid',
    remedy: 'Fix the option that the message names.',
  },
  MORTAR_LIMITS_PROCESSES: {
    cause: '`mortar limits` finds limits that are counted in the memory of each process',
    remedy: "Use the store 'database' or 'redis'. A restart or `npx mortar reload` resets counts in memory.",
  },
  MORTAR_LIMITS_STORE: {
    cause: 'The store of the limits does not respond to `mortar limits`',
    remedy: 'Check the database or Redis: `npx mortar doctor`.',
  },
  MORTAR_LIMITS_TABLE: {
    cause: 'The database has no table for the limits',
    remedy:
      'Add the entity of `@mortar/limits/schema` to the entities, then run `npx mortar migrate generate limits` and `npx mortar migrate run`.',
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'limits', codes: STARTUP_CODES })
