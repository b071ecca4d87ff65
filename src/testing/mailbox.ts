import { setTimeout as delay } from 'node:timers/promises'
import { optionalService } from '../container/optional-service.ts'
import type { JobQueue } from '../contracts/job-queue.ts'
import { MAIL_PAGE } from '../contracts/mailer.ts'
import { createClient, type Injectable } from './test-client.ts'

/** A message as returned by the development mail page. */
export interface ReceivedMail {
  readonly id: string
  readonly to: string | readonly string[]
  readonly from: string
  readonly subject: string
  readonly text: string
  readonly html: string | null
  readonly date: string
}

/** The mail that an application has sent, newest first. */
export interface Mailbox {
  all(): Promise<readonly ReceivedMail[]>
  /** Returns the newest message to an address. @throws Error if no message exists. */
  latest(to: string): Promise<ReceivedMail>
  /**
   * Waits at most two seconds for a message to an address, for mail that is sent after the response. With `subject`, for one
   * whose subject contains these words, as an earlier message may be there. Runs the mails that a job queue keeps under test.
   */
  waitFor(to: string, subject?: string): Promise<ReceivedMail>
}

/** Reads the mail of an application with the mail brick, through its development page. */
export function mailbox(app: Injectable): Mailbox {
  const client = createClient(app, { headers: { accept: 'application/json' } })

  async function all(): Promise<readonly ReceivedMail[]> {
    const { status, body } = await client.get(MAIL_PAGE)
    if (status !== 200)
      throw new Error(
        'The application has no mail page. Register a brick with the service mailer, and do not run in production mode.',
      )
    return (body as { messages: ReceivedMail[] }).messages
  }
  const find = async (to: string, subject = ''): Promise<ReceivedMail | undefined> =>
    (await all()).find(
      (mail) => [mail.to].flat().some((address) => address.includes(to)) && mail.subject.includes(subject),
    )

  return {
    all,
    async latest(to) {
      const mail = await find(to)
      if (!mail) throw new Error(`No mail to ${to} was sent.`)
      return mail
    },
    async waitFor(to, subject = '') {
      for (let round = 0; round < 200; round++) {
        const mail = await find(to, subject)
        if (mail) return mail
        await jobQueueOf(app)?.runDue?.()
        await delay(10)
      }
      const which = subject && ` with '${subject}' in its subject`
      const hint = 'With the brick jobs, run `testJobs(app).run()` before.'
      throw new Error(`No mail to ${to}${which} was sent within two seconds. ${hint}`)
    },
  }
}

function jobQueueOf(app: Injectable): JobQueue | undefined {
  const { services = {} } = app as { readonly services?: object }
  return optionalService(services, 'jobQueue')
}

/**
 * Returns the token of the link in a mail, such as `…/reset-password?token=…` or `…/verify-email#token=…`.
 * @throws Error if there is no such link.
 */
export function tokenIn({ text }: Pick<ReceivedMail, 'text'>): string {
  const token = /\bhttps?:\/\/\S+[?#]token=([\w.-]*[\w-])/.exec(text)?.[1]
  if (!token) throw new Error('The mail contains no link with a token.')
  return token
}
