import type { Cradle, MailAttachment, MailMessage } from 'mortar'
import { optionalService, type JobQueue } from 'mortar/kit'
import type { MailService } from './mailer.ts'

/** A message as JSON: bytes are base64. */
type Stored = Omit<MailMessage, 'attachments'> & {
  readonly attachments?: readonly (Omit<MailAttachment, 'content'> & {
    readonly content: string | { readonly base64: string }
  })[]
}

/** Returns the queue of another brick. The container throws for a missing service. */
export function queueIn(services: Cradle): JobQueue | undefined {
  return optionalService(services, 'jobQueue')
}

/** Messages that one process sends at the same time: a mail server that is silent leaves places to other jobs. */
const CONCURRENCY = 2

/** Seconds of an attempt beside the transport, for a message that is large. */
const BESIDE = 240

/**
 * Sends each message by a job, which repeats it after a failure and after a restart of the process.
 * @param timeout the longest time of the transport, in seconds: a job that ended earlier would send the message again.
 */
export function queuedMailer(mailer: MailService, queue: JobQueue, timeout: number): MailService {
  const add = queue.define(
    'mail:send',
    (data, _signal, { id }) => mailer.handOver(fromStored(data as Stored), id),
    { concurrency: CONCURRENCY, timeout: timeout + BESIDE },
  )
  return {
    ...mailer,
    async send(message, { tx, now = false } = {}) {
      if (now) return mailer.send(message, { tx })
      mailer.check(message)
      return add(toStored(message), tx)
    },
  }
}

function toStored({ attachments, ...message }: MailMessage): Stored {
  if (!attachments) return message
  return {
    ...message,
    attachments: attachments.map(({ content, ...attachment }) => ({
      ...attachment,
      content: typeof content === 'string' ? content : { base64: Buffer.from(content).toString('base64') },
    })),
  }
}

function fromStored({ attachments, ...message }: Stored): MailMessage {
  if (attachments === undefined) return message
  return {
    ...message,
    attachments: attachments.map(({ content, ...attachment }) => ({
      ...attachment,
      content: typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'),
    })),
  }
}
