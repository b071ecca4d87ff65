import type { MailOptions } from 'mortar/mail'
import { settings } from './settings.ts'

/** Printed to the terminal and readable at `/_framework/mail`, until `MAIL_TRANSPORT` says otherwise. */
export const mailOptions: MailOptions = {
  from: settings.mailFrom,
  transport: settings.mailTransport ?? (settings.environment === 'test' ? 'memory' : undefined),
}
