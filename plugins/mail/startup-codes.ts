import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors and doctor findings of the mail brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_MAIL_DIRECTORY: {
    cause: 'The directory of mail templates is a relative path, or cannot be read',
    remedy: "Write templates: new URL('../mail', import.meta.url), and create that folder.",
  },
  MORTAR_MAIL_NO_TRANSPORT: {
    cause: 'The mail brick has no transport in production',
    remedy: "Set one: `mail({ from, transport })`. `'memory'` discards all mail on purpose.",
  },
  MORTAR_MAIL_OPTION: {
    cause: 'An option of the mail brick is invalid',
    remedy: 'Fix the option that the message names.',
  },
  MORTAR_MAIL_PLAIN_PASSWORD: {
    cause: 'The mail transport would send its password without TLS to another machine',
    remedy: 'Use `smtps://…` or `requireTLS: true`; `allowPlainPassword: true` allows it on purpose.',
  },
  MORTAR_MAIL_TEMPLATE: {
    cause:
      'A file in the directory of mail templates is not a template or translation, or cannot be rendered',
    remedy:
      'Write `export default mailTemplate({ … })`, or `mailTranslation(template, { … })` in a file such as welcome.de.ts.',
  },
  MORTAR_MAIL_TRANSPORT: {
    cause: '`transport` of the mail brick is not a known name, a URL or a transport',
    remedy: "Use one of the names, an `smtp://` URL, nodemailer's options, or a transport.",
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'mail', codes: STARTUP_CODES })
