import { isIP } from 'node:net'
import type { Transporter } from 'nodemailer'
import type { StartupError } from 'mortar'
import { installed } from 'mortar/kit'
import { fault } from '../startup-codes.ts'

/** Options of nodemailer's SMTP transports that decide if a password is sent without encryption. */
interface SmtpOptions {
  readonly host?: string
  readonly secure?: boolean
  readonly ignoreTLS?: boolean
  readonly auth?: object
  requireTLS?: boolean
}

/** The members of nodemailer's transports that tell if they speak SMTP. */
interface Shown {
  readonly name?: string
  readonly options?: SmtpOptions
}

interface TransportOrigin {
  /** True for a transporter that the application made; its options are not changed. */
  readonly isOwn: boolean
  /** True for a setting from which nodemailer makes an SMTP transport. */
  readonly isSmtp: boolean
}

/**
 * Requires TLS for an SMTP transport that authenticates at another machine. Otherwise a server, or an attacker on the
 * path, could leave STARTTLS out and read the password (RFC 8314 §3). nodemailer then refuses such a connection.
 * @throws StartupError when the options exclude TLS, and when this version of nodemailer does not show them.
 */
export function demandTls(transporter: Transporter, origin: TransportOrigin): void {
  const options = smtpOptions(transporter, origin)
  if (options === undefined) return
  const { isOwn } = origin
  if (!hasCredentials(options) || options.secure === true || isThisMachine(options.host)) return
  if (options.ignoreTLS === true || (isOwn && options.requireTLS !== true)) throw plainPassword(isOwn)
  options.requireTLS = true
}

/** Returns the options of a transport that speaks SMTP. @throws StartupError if nodemailer does not show them. */
function smtpOptions(
  { transporter }: Transporter,
  { isOwn, isSmtp }: TransportOrigin,
): SmtpOptions | undefined {
  const { name, options } = (transporter ?? {}) as Shown
  if (options !== undefined && String(name).startsWith('SMTP')) return options
  if (isSmtp && !isOwn && !OTHERS.test(String(name))) throw hiddenOptions()
  return undefined
}

/** Names of nodemailer's transports that do not speak SMTP, which its options may ask for beside a host. */
const OTHERS = /^(?:Sendmail|.+Transport)$/

function hasCredentials({ auth }: SmtpOptions): boolean {
  return auth !== undefined && auth !== null && Object.keys(auth).length > 0
}

/** nodemailer's default host is localhost. */
function isThisMachine(host = 'localhost'): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '')
  if (isIP(name) === 0) return name === 'localhost' || name.endsWith('.localhost')
  return name === '::1' || /^(::ffff:)?127\./.test(name)
}

function hiddenOptions(): StartupError {
  return fault(
    'MORTAR_MAIL_PLAIN_PASSWORD',
    `${installed('nodemailer', import.meta.url)} does not show the options of its SMTP transport, so TLS cannot be required.`,
    {
      remedy:
        'Install the version on which @mortar/mail depends. `npm ls nodemailer` lists the versions. Or pass mail({ allowPlainPassword: true }).',
    },
  )
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
