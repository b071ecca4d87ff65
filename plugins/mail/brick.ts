import { defineBrick, singleton, type Brick, type Cradle, type Mailer } from '../../src/index.ts'
import { devPage, PAGE_PATH } from './dev-page/routes.ts'
import { createMailer, type MailService } from './mailer.ts'
import type { MailOptions } from './options.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { readAppUrl, readSettings } from './settings.ts'

/** The services that the brick provides: the mailer, and what it has sent. */
export interface MailServices {
  readonly mailer: Mailer
  readonly mailOutbox: Outbox
}

/**
 * Sends mail: the service `mailer`, `ctx.mail`, and outside production the page `/_framework/mail`.
 * @throws StartupError at the start, for an option that is not right or a production without a transport.
 */
export function mail(options: MailOptions): Brick<'mail', MailServices, { mail: Mailer }> {
  const appUrl = readAppUrl(options.appUrl)
  return defineBrick({
    name: 'mail',
    services: {
      mailOutbox: singleton(({ environment }) => createOutbox(readSettings(options, environment).limits)),
      mailer: singleton((services: Cradle) => mailerFor(options, services, appUrl)),
    },
    members: { mail: ({ mailer }) => mailer },
    routes: ({ environment }) =>
      environment === 'production'
        ? []
        : [devPage({ hosts: [...(options.hosts ?? []), ...(appUrl ? [appUrl.hostname] : [])] })],
    // A test may have put its own mailer in the place of this one, and that has no life cycle.
    start: ({ mailer }) => (mailer as Partial<MailService>).open?.(),
    stop: ({ mailer }) => (mailer as Partial<MailService>).close?.(),
  })
}

function mailerFor(options: MailOptions, services: Cradle, appUrl: URL | undefined): Mailer {
  const { environment, logger, clock } = services
  const { from, transport, timeout } = readSettings(options, environment)
  const pageOf = (id: string): string | undefined => {
    if (environment === 'production') return undefined
    const path = `${PAGE_PATH}/${encodeURIComponent(id)}`
    return appUrl ? new URL(path, appUrl).href : path
  }
  const output = options.output ?? (environment === 'development' ? process.stdout : undefined)
  return createMailer({
    from,
    transport,
    timeout,
    clock,
    logger,
    pageOf,
    outbox: services['mailOutbox'] as Outbox,
    named: {
      smtp: options.smtp,
      terminal: {
        print: (text) => (output ? output.write(text) : logger.info(text)),
        pageOf: (messageId) => pageOf(idOf(messageId)),
      },
    },
  })
}

/** `<id@domain>` holds the outbox id. */
function idOf(messageId: string): string {
  return messageId.slice(1, messageId.indexOf('@'))
}
