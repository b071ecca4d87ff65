import type { Cradle, Mailer } from 'mortar'
import { optionalService, type JobQueue } from 'mortar/kit'
import { compose, lifetimeText, messageOf, type ComposedMessage } from './mail-message.ts'
import { linkBase, type PasswordAuthOptions, type ResolvedLifetimes } from '../options/options.ts'

/** The mail of forgot-password. */
export interface ResetMail {
  /** Sends a reset token to its owner. Rejects if the mail could not be handed to the transport. */
  send(to: string, token: string): Promise<unknown>
  /** Repeats this process's part of the work of `send` for an address without an account, and sends nothing. */
  rehearse(to: string, token: string): Promise<unknown>
  /** Repeats the flow after a failure and a restart, if a brick provides the service. */
  readonly jobQueue?: JobQueue | undefined
  /** Returns the link of a token. @throws StartupError `MORTAR_AUTH_APP_URL` in production without an `appUrl`. */
  linkOf(token: string): string
}

/**
 * Selects how reset tokens are sent: the application's function, else the service `mailer`, else the log in
 * development.
 * @throws StartupError `MORTAR_AUTH_APP_URL` in production, if links are needed and there is no `appUrl`.
 */
export function createResetMail(
  options: Pick<PasswordAuthOptions, 'sendResetEmail' | 'appUrl'>,
  { resetToken }: Pick<ResolvedLifetimes, 'resetToken'>,
  services: Cradle,
): ResetMail {
  const { sendResetEmail } = options
  const jobQueue = optionalService<JobQueue>(services, 'jobQueue')
  const baseOf = (): string => linkBase(options.appUrl ?? services.appUrl, services.environment)
  // A function of the application cannot be repeated without sending the mail.
  if (sendResetEmail)
    return {
      send: async (to, token) => sendResetEmail(to, token),
      rehearse: async () => undefined,
      linkOf: (token) => linkIn(baseOf(), token),
      jobQueue,
    }
  const base = baseOf()
  const isProduction = services.environment === 'production'
  if (isProduction && !optionalService<Mailer>(services, 'mailer')) services.logger.warn(NO_WAY)
  const lifetime = lifetimeText(resetToken)
  const linkOf = (token: string): string => linkIn(base, token)
  const messageFor = (to: string, token: string) => resetMessage(to, linkOf(token), lifetime)
  return {
    jobQueue,
    async send(to, token) {
      const mailer = optionalService<Mailer>(services, 'mailer')
      // The flow itself repeats it, so that no store has the token.
      if (mailer) return mailer.send(messageFor(to, token), { now: true })
      if (isProduction) throw new Error(NO_WAY)
      services.logger.info(`Reset link for ${to}: ${linkOf(token)}`)
    },
    rehearse: async (to, token) =>
      optionalService<Mailer>(services, 'mailer') && compose(messageFor(to, token)),
    linkOf,
  }
}

function linkIn(base: string, token: string): string {
  return `${base}/reset-password?token=${token}`
}

const NO_WAY =
  'Reset links cannot be sent: register mail(…) from @mortar/mail, or pass basicAuth() a sendResetEmail.'

const WHY = 'Somebody, probably you, asked to reset the password of your account.'

function resetMessage(to: string, link: string, lifetime: string): ComposedMessage {
  const otherwise = `The link works once, for ${lifetime}. If it was not you, ignore this mail: nothing has changed.`
  const action = { label: 'Set a new password', link }
  return messageOf({ to, subject: 'Reset your password', why: WHY, action, otherwise })
}
