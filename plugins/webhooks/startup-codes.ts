import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors of the webhooks brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_WEBHOOKS_OPTION: {
    cause: 'An option of the webhooks brick is invalid',
    remedy: 'Fix the option that the message names.',
  },
  MORTAR_WEBHOOKS_TABLE: {
    cause: 'The database has no tables for the webhooks',
    remedy:
      "Write `export * from '@mortar/webhooks/schema'` in the schema module, then generate a migration and run it.",
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'webhooks', codes: STARTUP_CODES })
