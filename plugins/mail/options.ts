import type { Transport, TransportConfig, Transporter } from 'nodemailer'
import type { Duration, Environment, Size } from 'mortar'

/** Names of the built-in transports. */
export type TransportName = 'terminal' | 'memory' | 'smtp' | 'sendmail'

/**
 * Destination of mail: a name, a URL (`smtp://user:pass@host:587`, `smtps://…`), nodemailer's transport options,
 * a nodemailer transport `{ name, version, send(mail, done) }`, or a transporter from `nodemailer.createTransport`.
 */
export type MailTransport =
  | TransportName
  | `smtp://${string}`
  | `smtps://${string}`
  // A string from the environment. The start refuses one that is not a name or a URL.
  | (string & {})
  | TransportConfig
  | Transport
  | Transporter

/** Options of the mail brick. */
export interface MailOptions {
  /** Sender of messages without `from`: `'hello@example.com'` or `'Example <hello@example.com>'`. */
  readonly from: string
  /** By default `'terminal'` outside production; production has no default and refuses to start without one. */
  readonly transport?: MailTransport | undefined
  /** nodemailer's SMTP options for `transport: 'smtp'`; by default `localhost`, port 25. */
  readonly smtp?: TransportConfig
  /** Limits of the outbox behind the development page: 100 messages and 64 MB by default, nothing in production. */
  readonly outbox?: { readonly size?: number; readonly bytes?: Size }
  /** Time limit of the transport for one message: `'30s'` by default. */
  readonly timeout?: Duration
  /**
   * Access to `/_framework/mail` outside production. By default a loopback connection without forwarding headers.
   * `true`: every client, under localhost, an IP address or the host of `appUrl`. `{ hosts }`: also under these names.
   * `false`: the page does not exist.
   */
  readonly page?: boolean | { readonly hosts: readonly string[] }
  /** Folder of mail templates: an absolute path or a `file:` URL. */
  readonly templates?: string | URL
  /** Allows a password on a connection to another machine without TLS. */
  readonly allowPlainPassword?: boolean
  /** Output of the terminal transport: by default standard output in development, else the application's logger. */
  readonly output?: { write(text: string): unknown }
}

/** Default transport. Production has no default, so that mail is never lost unnoticed. */
export function defaultTransport(environment: Environment): TransportName | undefined {
  return environment === 'production' ? undefined : 'terminal'
}
