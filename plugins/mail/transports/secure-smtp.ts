import { isIP } from 'node:net'
import type { Transporter } from 'nodemailer'
import { StartupError } from '../../../src/index.ts'

/** The options of nodemailer's SMTP transports that decide whether a password goes over a readable connection. */
interface SmtpOptions {
  readonly host?: string
  readonly secure?: boolean
  readonly ignoreTLS?: boolean
  readonly auth?: object
  requireTLS?: boolean
}

/**
 * Demands TLS of an SMTP transport that signs in at another machine: without it a server, or whoever stands between,
 * could leave STARTTLS out and read the password (RFC 8314 §3). nodemailer then refuses to send over such a connection.
 * @param isOwn true for a transporter of the application's own, whose options are not changed.
 * @throws StartupError when the set-up rules TLS out.
 */
export function demandTls(transporter: Transporter, isOwn: boolean): void {
  const smtp = transporter.transporter as { readonly name?: string; readonly options?: SmtpOptions }
  const { options } = smtp
  if (options === undefined || !String(smtp.name).startsWith('SMTP')) return
  if (!hasCredentials(options) || options.secure === true || isThisMachine(options.host)) return
  if (options.ignoreTLS === true || (isOwn && options.requireTLS !== true)) throw plainPassword(isOwn)
  options.requireTLS = true
}

function hasCredentials({ auth }: SmtpOptions): boolean {
  return auth !== undefined && auth !== null && Object.keys(auth).length > 0
}

/** nodemailer's default host is localhost. */
function isThisMachine(host = 'localhost'): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '')
  if (isIP(name) === 0) return name === 'localhost' || name.endsWith('.localhost')
  return name === '::1' || /^(::ffff:)?127\./.test(name)
}

function plainPassword(isOwn: boolean): StartupError {
  return new StartupError(
    "The mail brick's transport would send its password without TLS to another machine.",
    {
      code: 'MORTAR_MAIL_PLAIN_PASSWORD',
      brick: 'mail',
      remedy: isOwn
        ? 'Give createTransport secure: true or requireTLS: true, or mail(…) allowPlainPassword: true.'
        : 'Use smtps://… or leave ignoreTLS out. To send it readable on purpose, mail({ allowPlainPassword: true }).',
    },
  )
}
