import type { StartupError } from 'mortar'
import { fault } from './startup-codes.ts'

/** An option of the brick that cannot be used; `found` continues "The mail brick's `name` …". */
export function wrongOption(option: string, found: string): StartupError {
  return fault('MORTAR_MAIL_OPTION', `The mail brick's \`${option}\` ${found}.`, {
    remedy: `Correct \`${option}\` where mail(…) is called; plugins/mail/README.md lists the options.`,
  })
}
