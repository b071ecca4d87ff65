import { randomUUID } from 'node:crypto'
import type { Transporter } from 'nodemailer'
import type { Clock, Logger, Mailer, MailMessage } from 'mortar'
import { ignore } from 'mortar/kit'
import { readAddresses, type ParseAddresses } from './addresses.ts'
import { captureMessage } from './captured-message.ts'
import { explainFailure, withDeadline } from './delivery.ts'
import { MailError } from './mail-error.ts'
import type { MailTransport } from './options.ts'
import type { Outbox } from './outbox.ts'
import { prepareMessage, type PreparedMessage } from './prepared-message.ts'
import { createRedactor, hideRecipients } from './redact.ts'
import { textOfHtml } from './text-of-html.ts'
import { loadAddressParser } from './nodemailer.ts'
import type { Samples } from './templates/templates.ts'
import { alwaysOpens, openTransport, type NamedTransports } from './transports/open-transport.ts'
import { fault } from './startup-codes.ts'

/** Dependencies and limits of a mailer. */
export interface MailerSettings {
  readonly from: string
  readonly transport: MailTransport
  readonly named: NamedTransports
  readonly allowPlainPassword: boolean
  readonly outbox: Outbox
  /** Longest time for one message, in seconds. */
  readonly timeout: number
  readonly clock: Clock
  readonly logger: Logger
  readonly pageOf: (id: string) => string | undefined
}

/** The mailer with its life cycle, which belongs to the brick. */
export interface MailService extends Mailer {
  /** @throws MailError `MAIL_INVALID_MESSAGE` if the message cannot be sent. */
  check(message: MailMessage): void
  /** Hands a message to the transport once. `id` is new by default. */
  handOver(message: MailMessage, id?: string): Promise<{ readonly id: string }>
  /**
   * Checks `from` and opens the transport. A transport that always opens is opened shortly after the start, since
   * nodemailer has 39 files.
   */
  open(): Promise<void>
  /** The templates with their samples, for the development page. */
  readonly samples?: Samples
  /** Waits for messages that are being sent, then closes the transport. */
  close(): Promise<void>
}

interface Opened {
  readonly transporter: Transporter
  readonly parse: ParseAddresses
  readonly redact: (text: string) => string
  /** Messages that are being sent, by `Message-ID`, for the outbox. */
  readonly underWay: Map<string, { id: string; date: Date; message: PreparedMessage }>
}

/** Milliseconds after the start, so that nodemailer does not delay the first requests. */
const OPENING_DELAY = 1000

/** Makes a mailer; nothing is opened before `open` or the first message. */
export function createMailer(settings: MailerSettings): MailService {
  const sends = new Set<Promise<unknown>>()
  let mailer: Opened | undefined
  let later: NodeJS.Timeout | undefined
  let closed = false
  const opened = async (): Promise<Opened> => (mailer ??= openMailer(settings))
  async function handOver(message: MailMessage, id: string = randomUUID()): Promise<{ readonly id: string }> {
    if (closed) throw new MailError('MAIL_CLOSED', 'The mail was not sent: the application has stopped.')
    const sending = opened().then((parts) => sendMessage(message, id, { ...parts, ...settings }))
    sends.add(sending)
    return sending.finally(() => sends.delete(sending))
  }

  return {
    async open() {
      checkSender(settings.from, loadAddressParser())
      if (!alwaysOpens(settings.transport)) await opened()
      // Each message tries again after a failure, and its sender learns of the next one.
      else later = setTimeout(() => void opened().catch(ignore), OPENING_DELAY).unref()
    },
    check: (message) => void prepareMessage(message, { from: settings.from, parse: loadAddressParser() }),
    async send(message, { tx } = {}) {
      if (tx !== undefined) throw new MailError('MAIL_NO_QUEUE', NO_QUEUE)
      return handOver(message)
    },
    handOver,
    pageOf: settings.pageOf,
    async close() {
      closed = true
      clearTimeout(later)
      await Promise.allSettled(sends)
      mailer?.transporter.close()
    },
  }
}

const NO_QUEUE =
  'The mail was not sent: a mail in a transaction needs a brick with the service jobQueue, such as jobs(…).'

function checkSender(from: string, parse: ParseAddresses): void {
  try {
    if (readAddresses('from', from, parse).length === 1) return
  } catch {
    // The StartupError below gives the reason.
  }
  throw fault('MORTAR_MAIL_OPTION', "The mail brick's `from` is not exactly one e-mail address.", {
    remedy: "Write 'hello@example.com' or 'Example <hello@example.com>'.",
  })
}

function openMailer(settings: MailerSettings): Opened {
  const { transport, named, outbox, logger, allowPlainPassword } = settings
  const parse = loadAddressParser()
  const transporter = openTransport(transport, { named, allowPlainPassword })
  const redact = createRedactor(transport, named.smtp)
  const underWay: Opened['underWay'] = new Map()
  // Pools report a lost connection this way; without a listener it would end the process.
  transporter.on('error', (error: Error) => logger.warn(`Mail transport: ${redact(error.message)}`))
  if (outbox.enabled)
    transporter.use('stream', (mail, done) => {
      const known = underWay.get(String(mail.data.messageId))
      if (known) outbox.add(captureMessage(mail, { ...known, attachments: known.message.attachments }))
      done()
    })
  return { transporter, parse, redact, underWay }
}

async function withText(message: PreparedMessage): Promise<PreparedMessage> {
  if (message.text !== undefined || message.html === undefined) return message
  const text = await textOfHtml(message.html)
  return text === undefined ? message : { ...message, text }
}

async function sendMessage(
  message: MailMessage,
  id: string,
  parts: Opened & MailerSettings,
): Promise<{ readonly id: string }> {
  const { transporter, parse, redact, underWay, from, outbox, timeout, clock, logger } = parts
  const prepared = await withText(prepareMessage(message, { from, parse }))
  const date = new Date(clock.now())
  const messageId = `<${id}@${prepared.from.address.split('@')[1]}>`
  underWay.set(messageId, { id, date, message: prepared })
  try {
    const info = await withDeadline(timeout, (signal) =>
      transporter.sendMail({
        ...prepared,
        messageId,
        date,
        signal,
        disableFileAccess: true,
        disableUrlAccess: true,
      }),
    )
    const refused = info?.rejected?.length ?? 0
    if (refused > 0) logger.warn({ mail: id }, `Mail ${id}: ${refused} of its recipients were refused.`)
    outbox.settle(id, {})
    return { id }
  } catch (error) {
    const failure = explainFailure(error, { id, redact: hideRecipients(prepared, redact) })
    outbox.settle(id, { error: failure.message })
    throw failure
  } finally {
    underWay.delete(messageId)
  }
}
