import type { Transport, TransportConfig, Transporter } from 'nodemailer'
import type { Duration, Environment, Size } from '../../src/index.ts'

/** The transports that have a name. */
export type TransportName = 'terminal' | 'memory' | 'smtp' | 'sendmail'

/**
 * Where mail goes: a name, a URL (`smtp://user:pass@host:587`, `smtps://…`), nodemailer's transport options,
 * a nodemailer transport `{ name, version, send(mail, done) }`, or a transporter from `nodemailer.createTransport`.
 */
export type MailTransport =
  | TransportName
  | `smtp://${string}`
  | `smtps://${string}`
  // A string from the environment; one that is neither a name nor a URL is refused at the start.
  | (string & {})
  | TransportConfig
  | Transport
  | Transporter

/** Options of the mail brick. */
export interface MailOptions {
  /** Sender of every message that names none: `'hello@example.com'` or `'Example <hello@example.com>'`. */
  readonly from: string
  /** By default `'terminal'` outside production; production has no default and refuses to start without one. */
  readonly transport?: MailTransport | undefined
  /** nodemailer's SMTP options for `transport: 'smtp'`; by default `localhost`, port 25. */
  readonly smtp?: TransportConfig
  /** How much of the sent mail is kept for the development page: 100 messages and 64 MB by default; in production nothing. */
  readonly outbox?: { readonly size?: number; readonly bytes?: Size }
  /** How long the transport may take for one message: `'30s'` by default. */
  readonly timeout?: Duration
  /**
   * Access to `/_framework/mail` outside production. By default a loopback connection without forwarding headers.
   * `true`: everybody who reaches the application, under localhost, an IP address or the host of `appUrl`. `{ hosts }`:
   * the same under these names too. `false`: nobody.
   */
  readonly page?: boolean | { readonly hosts: readonly string[] }
  /** Lets a password go to another machine over a connection without TLS. */
  readonly allowPlainPassword?: boolean
  /** Where the terminal transport prints: by default standard output in development, else the application's logger. */
  readonly output?: { write(text: string): unknown }
}

/** The transport that is used when none is given; production has none, so that mail never goes missing unnoticed. */
export function defaultTransport(environment: Environment): TransportName | undefined {
  return environment === 'production' ? undefined : 'terminal'
}
