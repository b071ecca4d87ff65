import { createRequire } from 'node:module'
import type * as Nodemailer from 'nodemailer'
import type { Cradle, Mailer, MailMessage } from '../../../src/index.ts'
import { linkBase, type PasswordAuthOptions } from '../options/options.ts'

/** The mail of forgot-password. */
export interface ResetMail {
  /** Sends a reset token to its owner. Rejects if the mail could not be handed to the transport. */
  send(to: string, token: string): Promise<unknown>
  /** Repeats this process's part of the work of `send` for an address without an account, and sends nothing. */
  rehearse(to: string, token: string): Promise<unknown>
}

/**
 * Selects how reset tokens are sent: the application's function, else the service `mailer`, else the log in
 * development.
 * @throws StartupError `MORTAR_AUTH_APP_URL` in production, if links are needed and there is no `appUrl`.
 */
export function createResetMail(
  options: Pick<PasswordAuthOptions, 'sendResetEmail' | 'appUrl'>,
  services: Cradle,
): ResetMail {
  const { sendResetEmail } = options
  // A function of the application cannot be repeated without sending the mail.
  if (sendResetEmail)
    return { send: async (to, token) => sendResetEmail(to, token), rehearse: async () => undefined }
  const base = linkBase(options.appUrl ?? services.appUrl, services.environment)
  const isProduction = services.environment === 'production'
  if (isProduction && !mailerOf(services)) services.logger.warn(NO_WAY)
  const linkOf = (token: string): string => `${base}/reset-password?token=${token}`
  return {
    async send(to, token) {
      const mailer = mailerOf(services)
      if (mailer) return mailer.send(messageOf(to, linkOf(token)))
      if (isProduction) throw new Error(NO_WAY)
      services.logger.info(`Reset link for ${to}: ${linkOf(token)}`)
    },
    rehearse: async (to, token) => mailerOf(services) && compose(messageOf(to, linkOf(token))),
  }
}

const NO_WAY =
  'Reset links cannot be sent: register mail(…) from mortar/mail, or pass basicAuth() a sendResetEmail.'

/** The mail brick is optional, and the container throws for a missing service. */
function mailerOf(services: Cradle): Mailer | undefined {
  return Object.hasOwn(services, 'mailer') ? (services['mailer'] as Mailer) : undefined
}

/**
 * Composes a message completely and discards it. `import` would load a second copy of nodemailer beside the one of the
 * mail brick.
 */
async function compose({ to, subject, text, html }: ResetMessage): Promise<void> {
  const nodemailer = createRequire(import.meta.url)('nodemailer') as typeof Nodemailer
  const nowhere = nodemailer.createTransport({ streamTransport: true, buffer: true })
  await nowhere.sendMail({ from: 'nobody@localhost', to, subject, text, html })
}

type ResetMessage = MailMessage & { readonly to: string[]; readonly text: string; readonly html: string }

function messageOf(to: string, link: string): ResetMessage {
  return { to: [to], subject: 'Reset your password', text: textWith(link), html: htmlWith(link) }
}

const WHY = 'Somebody, probably you, asked to reset the password of your account.'
const OTHERWISE =
  'The link works once and not for long. If it was not you, ignore this mail: nothing has changed.'

function textWith(link: string): string {
  return `${WHY}\n\nSet a new password:\n${link}\n\n${OTHERWISE}\n`
}

/** The link consists of a configured address and a base64url token, so only `&` needs escaping. */
function htmlWith(link: string): string {
  return `<p>${WHY}</p>\n<p><a href="${link.replaceAll('&', '&amp;')}">Set a new password</a></p>\n<p>${OTHERWISE}</p>\n`
}
