import type { Clock, EventBus, Logger, Mailer } from 'mortar'
import { createRepeats, type Repeats } from 'mortar/kit'
import { describeFailure } from '../errors.ts'
import type { AuthEvents } from '../events/events.ts'
import type { AccountMail, MailContent, Outbox } from '../features/mails.ts'
import { createBackground } from './background.ts'
import { compose, isPermanent, messageOf } from './mail-message.ts'

/** Milliseconds after which nobody waits for a mail without a link. */
const WAIT = 86_400_000

/** Settings of `createOutbox`. */
export interface OutboxSettings {
  /** A function of the application, in place of the service `mailer`. */
  readonly sendMail?: ((mail: AccountMail) => unknown) | undefined
  readonly mailer: () => Mailer | undefined
  readonly delay: () => number
  readonly isProduction: boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly events: EventBus<AuthEvents>
}

/** An outbox, and its end. */
export interface ClosableOutbox extends Outbox {
  /** Repeats further work, until `finish`. */
  readonly repeats: Repeats
  /** Sends waiting mails now, and resolves when every mail was sent or has failed once. */
  settled(): Promise<void>
  /** Waits like `settled`, then sends each mail that has failed once more, and repeats none from now on. @returns the number of lost mails. */
  finish(): Promise<number>
}

/** Creates the outbox of one application. It keeps mails in memory alone, because some have a token. */
export function createOutbox(settings: OutboxSettings): ClosableOutbox {
  const { clock, delay, events } = settings
  const background = createBackground(delay)
  const repeats = createRepeats()
  return {
    send(content, { id: requestId, ip }, until = clock.now() + WAIT) {
      const { kind, userId, action } = content
      const attempt = async (): Promise<boolean> => {
        try {
          await handOver(settings, content)
          return true
        } catch (error) {
          const reason = describeFailure(error, tokenIn(action?.link))
          events.emit('auth.mail.failed', { ip, requestId, userId, kind, error: reason })
          return isPermanent(error) || clock.now() >= until
        }
      }
      background.run(async () => void (await repeats.run(attempt)))
    },
    async rehearse(content) {
      if (!settings.sendMail && settings.mailer()) await compose(messageOf(content))
    },
    later(work) {
      background.run(() =>
        work().catch((error: unknown) => {
          settings.logger.error({ reason: describeFailure(error) }, 'Work after a response has failed')
        }),
      )
    },
    repeats,
    settled: background.settled,
    async finish() {
      await background.settled()
      return repeats.finish()
    },
  }
}

async function handOver(settings: OutboxSettings, content: MailContent): Promise<void> {
  const { sendMail, mailer, isProduction, logger } = settings
  const { kind, action } = content
  const message = messageOf(content)
  if (sendMail) {
    const { to, subject, text, html } = message
    await sendMail({ kind, to: to[0]!, subject, text, html, ...(action && { link: action.link }) })
    return
  }
  const service = mailer()
  // `now`: the outbox repeats it, so that no store has the token.
  if (service) await service.send(message, { now: true })
  else if (isProduction)
    throw new Error('Mails cannot be sent: register mail(…), or pass the option sendMail.')
  else logger.info(`Mail to ${content.to}: ${content.subject}${action ? ` ${action.link}` : ''}`)
}

function tokenIn(link = ''): string | undefined {
  return /token=(.+)$/.exec(link)?.[1]
}
