import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors of the realtime brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_REALTIME_OPTION: {
    cause: 'An option of the realtime brick or of a socket route is invalid',
    remedy: 'Fix the option that the message names.',
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'realtime', codes: STARTUP_CODES })
