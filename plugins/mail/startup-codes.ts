import type { StartupCodes } from '../../src/index.ts'

/** Codes of the start-up errors and doctor findings of the mail brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_MAIL_NO_TRANSPORT: {
    cause: 'The mail brick has no transport in production',
    remedy: "Give one: `mail({ from, transport })`; `'memory'` drops all mail on purpose.",
  },
  MORTAR_MAIL_OPTION: {
    cause: 'An option of the mail brick cannot be read',
    remedy: 'Correct the option that the message names.',
  },
  MORTAR_MAIL_PLAIN_PASSWORD: {
    cause: 'The mail transport would send its password without TLS to another machine',
    remedy: 'Use `smtps://…` or `requireTLS: true`; `allowPlainPassword: true` allows it on purpose.',
  },
  MORTAR_MAIL_TRANSPORT: {
    cause: '`transport` of the mail brick is neither a known name, nor a URL, nor a transport',
    remedy: "Write one of the names, an `smtp://` URL, nodemailer's options, or a transport.",
  },
} as const satisfies StartupCodes
