import { StartupError } from 'mortar'

/** An option of the brick that cannot be used; `found` continues "The mail brick's `name` …". */
export function wrongOption(option: string, found: string): StartupError {
  return new StartupError(`The mail brick's \`${option}\` ${found}.`, {
    code: 'MORTAR_MAIL_OPTION',
    brick: 'mail',
    remedy: `Correct \`${option}\` where mail(…) is called; plugins/mail/README.md lists the options.`,
  })
}
