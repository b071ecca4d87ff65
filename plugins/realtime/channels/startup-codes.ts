import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors of the channels brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_CHANNELS_DIRECTORY: {
    cause: 'The folder of the channels cannot be read',
    remedy: "Write `directory: new URL('./channels', import.meta.url)`, and make the folder.",
  },
  MORTAR_CHANNELS_FILE: {
    cause: 'A file of the folder of channels is not a channel',
    remedy: 'Export the result of `channel({ auth, events })` as default, or begin the name with `_`.',
  },
  MORTAR_CHANNELS_OPTION: {
    cause: 'An option of the channels brick is invalid',
    remedy: 'Fix the option that the message names.',
  },
  MORTAR_CHANNELS_TABLE: {
    cause: 'The tables of the channels are missing',
    remedy:
      "Write `export * from '@mortar/realtime/channels/schema'` in the schema module, and make a migration.",
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'channels', codes: STARTUP_CODES })
