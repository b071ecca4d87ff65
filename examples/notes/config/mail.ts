import type { MailOptions } from '@mortar/mail'
import { settings } from './settings.ts'

/** Mail is printed to the terminal and shown at `/_framework/mail`, unless `MAIL_TRANSPORT` is set. Tests send none. */
export const mailOptions: MailOptions = {
  from: settings.mailFrom,
  transport: settings.environment === 'test' ? 'memory' : settings.mailTransport,
}
