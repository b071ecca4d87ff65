import type { TransportConfig, Transport, Transporter } from 'nodemailer'
import { isObject } from 'mortar/kit'
import type { MailTransport, TransportName } from '../options.ts'
import { guardTransport } from './guard-transport.ts'
import { demandTls } from './secure-smtp.ts'
import { loadNodemailer } from '../nodemailer.ts'
import { memoryTransport } from './memory.ts'
import { terminalTransport, type TerminalOptions } from './terminal.ts'
import { fault } from '../startup-codes.ts'

/** Settings of the named transports. */
export interface NamedTransports {
  readonly terminal: TerminalOptions
  readonly smtp: TransportConfig | undefined
}

const LOCAL_MAIL_SERVER = { host: 'localhost', port: 25 }

const NAMED: Readonly<Record<TransportName, (options: NamedTransports) => Transport | TransportConfig>> = {
  terminal: ({ terminal }) => terminalTransport(terminal),
  memory: () => memoryTransport(),
  smtp: ({ smtp }) => smtp ?? LOCAL_MAIL_SERVER,
  sendmail: () => ({ sendmail: true }),
}

/**
 * Checks the shape of a transport setting, without opening a connection.
 * @throws StartupError that never quotes the setting, since it may contain a password.
 */
export function checkTransport(setting: MailTransport): void {
  if (typeof setting === 'string' ? isName(setting) || isSmtpUrl(setting) : isObject(setting)) return
  const found =
    typeof setting === 'string'
      ? 'is not the name of a transport, and not an smtp:// or smtps:// URL that can be read'
      : `is of type ${setting === null ? 'null' : typeof setting}`
  throw fault('MORTAR_MAIL_TRANSPORT', `The mail brick's \`transport\` ${found}.`, {
    remedy: `Write one of ${Object.keys(NAMED).join(', ')}, a URL with its user and password percent-encoded (smtp://user:pass@host:587), nodemailer's options, or a nodemailer transport.`,
  })
}

/**
 * Returns true for a checked setting that `openTransport` never refuses: a name without options, or a URL without a
 * query, in which TLS can be excluded.
 */
export function alwaysOpens(setting: MailTransport): boolean {
  return typeof setting === 'string' && setting !== 'smtp' && !setting.includes('?')
}

/** Settings for opening a transport. */
export interface TransportSetUp {
  readonly named: NamedTransports
  /** Allows a password on a connection to another machine without TLS. */
  readonly allowPlainPassword: boolean
}

/**
 * Opens a checked setting as a nodemailer transporter; nodemailer is loaded here.
 * @throws StartupError when a password would be sent to another machine without TLS.
 */
export function openTransport(
  setting: MailTransport,
  { named, allowPlainPassword }: TransportSetUp,
): Transporter {
  const { createTransport } = loadNodemailer()
  const chosen = typeof setting === 'string' && isName(setting) ? NAMED[setting](named) : setting
  const transporter = isTransporter(chosen) ? chosen : createTransport(chosen as string)
  if (isTransport(chosen)) transporter.transporter = guardTransport(chosen)
  else if (!allowPlainPassword)
    demandTls(transporter, { isOwn: isTransporter(chosen), isSmtp: isSmtp(chosen) })
  return transporter
}

function isName(text: string): text is TransportName {
  return Object.hasOwn(NAMED, text)
}

function isSmtpUrl(text: string): boolean {
  return /^smtps?:\/\//i.test(text) && URL.canParse(text) && new URL(text).hostname !== ''
}

/** True for a URL, and for options with a host. */
function isSmtp(chosen: unknown): boolean {
  return typeof chosen === 'string' || (isObject(chosen) && typeof chosen['host'] === 'string')
}

function isTransporter(value: unknown): value is Transporter {
  return isObject(value) && typeof value['sendMail'] === 'function'
}

function isTransport(value: unknown): value is Transport {
  return isObject(value) && typeof value['send'] === 'function'
}
