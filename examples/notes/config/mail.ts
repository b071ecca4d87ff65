import type { MailOptions } from '@mortar/mail'
import { settings } from './settings.ts'

/** Mail is printed to the terminal and shown at `/_framework/mail`, unless `MAIL_TRANSPORT` is set. */
export const mailOptions: MailOptions = {
  from: settings.mailFrom,
  transport: settings.mailTransport ?? (settings.environment === 'test' ? 'memory' : undefined),
}
