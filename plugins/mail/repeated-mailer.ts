import { randomUUID } from 'node:crypto'
import type { Clock, Logger, MailMessage, OutageFailure, Outages } from 'mortar'
import { createRepeats } from 'mortar/kit'
import { MailError } from './mail-error.ts'
import type { MailService } from './mailer.ts'

/** Milliseconds after which a message is given up. */
const PATIENCE = 600_000
/** Bytes of all messages that wait. A further one is given up. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Sends messages that failed again, from the memory of the process, and once more when it stops. `send` resolves when the
 * message was sent or waits; it rejects if another attempt could not succeed.
 */
export function repeatedMailer(
  mailer: MailService,
  { clock, logger, outages }: Pick<Parts, 'clock' | 'logger' | 'outages'>,
): MailService {
  const repeats = createRepeats()
  const parts: Parts = { mailer, clock, logger, outages, waiting: { bytes: 0, isClosing: false } }
  return {
    ...mailer,
    async send(message, options = {}) {
      if (options.now || options.tx !== undefined) return mailer.send(message, options)
      mailer.check(message)
      const sending = new Sending(message, parts)
      if (!(await repeats.run(() => sending.attempt()))) sending.giveUp()
      if (sending.failure !== undefined) throw sending.failure
      return { id: sending.id }
    },
    async close() {
      parts.waiting.isClosing = true
      await repeats.finish()
      await mailer.close()
    },
  }
}

interface Parts {
  readonly mailer: MailService
  readonly clock: Clock
  readonly logger: Logger
  readonly outages: Outages
  /** State of all messages that wait. */
  readonly waiting: { bytes: number; isClosing: boolean }
}

/** A message until it is sent or given up. */
class Sending {
  readonly id: string = randomUUID()
  /** The error for the caller of `send`, if the message does not wait for another attempt. */
  failure: Error | undefined
  readonly #message: MailMessage
  readonly #parts: Parts
  readonly #size: number
  readonly #until: number
  #attempts = 0

  constructor(message: MailMessage, parts: Parts) {
    this.#message = message
    this.#parts = parts
    this.#size = sizeOf(message)
    this.#until = parts.clock.now() + PATIENCE
  }

  /** Resolves with false if it is to be called again. */
  async attempt(): Promise<boolean> {
    const { mailer, waiting } = this.#parts
    this.#attempts += 1
    try {
      await mailer.handOver(this.#message, this.id)
    } catch (error) {
      if (!this.#isOver(error)) {
        if (this.#attempts === 1) waiting.bytes += this.#size
        this.#logOutage(error, { part: 'mail', level: 'warn', message: WAITS })
        return false
      }
      if (this.#attempts === 1) this.failure = error as Error
      else this.#logLoss(error)
    }
    if (this.#attempts > 1) waiting.bytes -= this.#size
    return true
  }

  /** Ends a message for whose repetition there is no room. */
  giveUp(): void {
    this.#parts.waiting.bytes -= this.#size
    this.failure = new MailError('MAIL_NOT_SENT', NO_ROOM, { id: this.id })
  }

  /** A mail that its server refuses is a cause of its own. */
  #logLoss(error: unknown): void {
    const fields = { mail: this.id, attempt: this.#attempts, err: error }
    if (isFinal(error)) this.#parts.logger.error(fields, LOST)
    else this.#logOutage(error, { part: 'lost mail', level: 'error', message: LOST })
  }

  #logOutage(error: unknown, line: Pick<OutageFailure, 'part' | 'level' | 'message'>): void {
    this.#parts.outages.log({ ...line, error, fields: { mail: this.id, attempt: this.#attempts } })
  }

  #isOver(error: unknown): boolean {
    const { clock, waiting } = this.#parts
    if (waiting.isClosing || isFinal(error) || clock.now() >= this.#until) return true
    return this.#attempts === 1 && waiting.bytes + this.#size > MOST_BYTES
  }
}

const WAITS = 'A mail was not sent yet, and waits in memory'
const LOST = 'A mail was not sent, and is lost'
const NO_ROOM = 'The mail was not sent, and too many others wait for another attempt.'

/** False for a failure of a mail server that may pass. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof MailError) || error.permanent) return true
  return error.code !== 'MAIL_NOT_SENT' && error.code !== 'MAIL_TIMEOUT'
}

/** A message of JavaScript may have null for a part. */
function sizeOf({ text, html, attachments }: MailMessage): number {
  return [text ?? '', html ?? '', ...(attachments ?? []).map(({ content }) => content)].reduce(
    (sum, part) => sum + Buffer.byteLength(part),
    0,
  )
}
