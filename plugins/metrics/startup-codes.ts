import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors of the metrics brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_METRICS_LISTEN: {
    cause: 'The metrics brick cannot listen on its own port',
    remedy: 'Stop the process that uses the port, or set another `port` or `host`.',
  },
  MORTAR_METRICS_OPEN: {
    cause: 'The metrics would be readable by everybody in production',
    remedy:
      'Set the option `token`, such as METRICS_TOKEN from the environment, or `port` for a separate server.',
  },
  MORTAR_METRICS_OPTION: {
    cause: 'An option of the metrics brick is invalid',
    remedy: 'Fix the option that the message names.',
  },
} as const satisfies StartupCodes

/** Makes a start-up error of the brick. */
export const fault = startupErrors({ brick: 'metrics', codes: STARTUP_CODES })
