import { isIP } from 'node:net'
import type { Transporter } from 'nodemailer'
import type { StartupError } from 'mortar'
import { fault } from '../startup-codes.ts'

/** Options of nodemailer's SMTP transports that decide if a password is sent without encryption. */
interface SmtpOptions {
  readonly host?: string
  readonly secure?: boolean
  readonly ignoreTLS?: boolean
  readonly auth?: object
  requireTLS?: boolean
}

/**
 * Requires TLS for an SMTP transport that authenticates at another machine. Otherwise a server, or an attacker on the
 * path, could leave STARTTLS out and read the password (RFC 8314 §3). nodemailer then refuses such a connection.
 * @param isOwn true for a transporter that the application made; its options are not changed.
 * @throws StartupError when the options exclude TLS.
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
  return fault(
    'MORTAR_MAIL_PLAIN_PASSWORD',
    "The mail brick's transport would send its password without TLS to another machine.",
    {
      remedy: isOwn
        ? 'Give createTransport secure: true or requireTLS: true, or pass mail({ allowPlainPassword: true }).'
        : 'Use smtps://… or leave ignoreTLS out. To send the password unencrypted on purpose, mail({ allowPlainPassword: true }).',
    },
  )
}
