import type { Cradle, Mailer } from '../../src/index.ts'
import { linkBase, type PasswordAuthOptions } from './options.ts'

/** Brings a reset token to its owner. Rejects when the mail could not be handed over. */
export type SendResetMail = (to: string, token: string) => Promise<unknown>

/**
 * The way a reset token takes: the application's own function, else the service `mailer`, else the log in development.
 * @throws StartupError `MORTAR_AUTH_APP_URL` in production, when links would have to be made without an `appUrl`.
 */
export function createResetMail(
  options: Pick<PasswordAuthOptions, 'sendResetEmail' | 'appUrl'>,
  services: Cradle,
): SendResetMail {
  const { sendResetEmail } = options
  if (sendResetEmail) return async (to, token) => sendResetEmail(to, token)
  const base = linkBase(options.appUrl ?? services.appUrl, services.environment)
  if (services.environment === 'production' && !mailerOf(services)) services.logger.warn(NO_WAY)
  return async (to, token) => {
    const link = `${base}/reset-password?token=${token}`
    const mailer = mailerOf(services)
    if (mailer)
      return mailer.send({
        to: [to],
        subject: 'Reset your password',
        text: textWith(link),
        html: htmlWith(link),
      })
    if (services.environment === 'production') throw new Error(NO_WAY)
    services.logger.info(`Reset link for ${to}: ${link}`)
  }
}

const NO_WAY =
  'Reset links cannot be sent: register mail(…) from mortar/mail, or give basicAuth() a sendResetEmail.'

/** The mail brick is optional, and asking the container for a service that is not there throws. */
function mailerOf(services: Cradle): Mailer | undefined {
  return Object.hasOwn(services, 'mailer') ? (services['mailer'] as Mailer) : undefined
}

const WHY = 'Somebody, probably you, asked to reset the password of your account.'
const OTHERWISE =
  'The link works once and not for long. If it was not you, ignore this mail: nothing has changed.'

function textWith(link: string): string {
  return `${WHY}\n\nSet a new password:\n${link}\n\n${OTHERWISE}\n`
}

/** The link is made of a configured address and a token of base64url, so that nothing in it needs escaping but `&`. */
function htmlWith(link: string): string {
  return `<p>${WHY}</p>\n<p><a href="${link.replaceAll('&', '&amp;')}">Set a new password</a></p>\n<p>${OTHERWISE}</p>\n`
}
