import type { Mailer, MailMessage, SendOptions } from 'mortar'
import type { MailService } from '../mailer.ts'
import { isTemplate, type MailTemplate, type TemplateMessage } from './template.ts'
import type { Templates } from './templates.ts'

/** The service `mailer`, which sends messages and templates. */
export interface TemplateMailer extends Mailer {
  send(message: MailMessage, options?: SendOptions): Promise<{ readonly id: string }>
  /**
   * Sends a template with its data, in the locale of the reader if a file has it. Rejects also for data that its schema
   * refuses.
   */
  send<Data>(
    template: MailTemplate<Data>,
    message: TemplateMessage<Data>,
    options?: SendOptions,
  ): Promise<{ readonly id: string }>
}

/** Lets a mailer send templates. Each is rendered at the call. */
export function templatedMailer(mailer: MailService, templates: Templates): MailService & TemplateMailer {
  return {
    ...mailer,
    async open() {
      await templates.load()
      await mailer.open()
    },
    async send(first: MailMessage | MailTemplate<never>, second?: object, third?: SendOptions) {
      if (!isTemplate(first)) return mailer.send(first as MailMessage, second)
      const message = await templates.render(first, second as TemplateMessage<unknown>)
      return mailer.send(message, third)
    },
  }
}
