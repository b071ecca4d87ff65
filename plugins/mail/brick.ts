import {
  defineBrick,
  singleton,
  type StartupError,
  type Brick,
  type BrickServices,
  type CoreServices,
} from 'mortar'
import { checkOptions, findingsOf, type OptionChecks, warnOfLongNumber } from 'mortar/kit'
import { devPage, PAGE_PATH } from './dev-page/routes.ts'
import { createMailer, type MailerSettings, type MailService } from './mailer.ts'
import type { MailOptions } from './options.ts'
import { queuedMailer, queueIn } from './queued-mailer.ts'
import { readPage } from './page-access.ts'
import { repeatedMailer } from './repeated-mailer.ts'
import type { PageAccess } from './dev-page/access.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { readSettings } from './settings.ts'
import { STARTUP_CODES, fault } from './startup-codes.ts'
import { samplesOf } from './templates/samples.ts'
import { templatedMailer, type TemplateMailer } from './templates/templated-mailer.ts'
import { createTemplates } from './templates/templates.ts'
import { wrongOption } from './wrong-option.ts'

/** Services of the brick: the mailer and the outbox of sent messages. */
export interface MailServices {
  readonly mailer: TemplateMailer
  readonly mailOutbox: Outbox
}

// Tells other bricks the types of the services, and policies the type of the member.
declare module 'mortar' {
  interface KnownServices extends MailServices {}
  interface KnownMembers {
    readonly mail: TemplateMailer
  }
}

/** Keys with their types. The values of address, transport, page and sizes are checked where they are read. */
const MAIL_RULES: OptionChecks<MailOptions>['keys'] = {
  from: 'anything',
  transport: 'anything',
  smtp: ['object', 'string'],
  outbox: {
    is: 'object',
    keys: { size: 'number', bytes: 'size' } satisfies OptionChecks<
      NonNullable<MailOptions['outbox']>
    >['keys'],
  },
  timeout: 'timeout',
  page: { is: 'boolean', keys: { hosts: { is: 'strings', required: true } } },
  templates: ['object', 'string'],
  allowPlainPassword: 'boolean',
  output: ['object', 'function'],
}

/**
 * Sends mail: the service `mailer`, `ctx.mail`, and outside production the page `/_framework/mail`.
 * @throws StartupError at the start, for an invalid option, or in production without a transport.
 */
export function mail(options: MailOptions): Brick<'mail', MailServices, { mail: TemplateMailer }> {
  if (options === undefined) throw withoutOptions()
  checkOptions(options, { of: 'mail()', brick: 'mail', keys: MAIL_RULES })
  return defineBrick({
    name: 'mail',
    peers: { from: import.meta.url },
    startupCodes: STARTUP_CODES,
    pages: { Mail: PAGE_PATH },
    services: {
      mailOutbox: singleton(({ environment }) => createOutbox(readSettings(options, environment).limits)),
      mailer: singleton((services) => mailerFor(options, services)),
    },
    members: { mail: ({ mailer }) => mailer },
    routes: (core) => {
      const access = pageAccess(options, core)
      return access === undefined ? [] : [devPage(access)]
    },
    // A test may replace the mailer with one that has no life cycle.
    start: async (services) => {
      warnOfSetUp(options, services)
      await (services.mailer as Partial<MailService>).open?.()
    },
    stop: ({ mailer }) => (mailer as Partial<MailService>).close?.(),
    doctor: () => findingsOf(() => createTemplates(options.templates).load(), 'docs/mail.md#templates'),
  })
}

function withoutOptions(): StartupError {
  return fault('MORTAR_MAIL_OPTION', 'The options of mail() are undefined, not an object.', {
    remedy: "Write mail({ from: 'Example <hello@example.com>' }).",
  })
}

function pageAccess(options: MailOptions, { environment, appUrl }: CoreServices): PageAccess | undefined {
  const access = readPage(options, appUrl)
  return environment === 'production' ? undefined : access
}

function warnOfSetUp(options: MailOptions, core: CoreServices): void {
  const { environment, logger } = core
  warnOfLongNumber('timeout of mail()', options.timeout, logger)
  if (environment === 'production' && (options.transport === 'memory' || options.transport === 'terminal'))
    logger.warn(
      `This application runs in production with the mail transport '${options.transport}', which sends nothing.`,
    )
  if (pageAccess(options, core)?.open)
    logger.warn(
      `The mail page ${PAGE_PATH} is open: whoever reaches this application can read reset links there.`,
    )
}

let isGuarded = false

/** Returns standard output. A mail that it does not take is lost, and the process stays. */
function standardOutput(): NodeJS.WriteStream {
  if (!isGuarded) process.stdout.on('error', () => undefined)
  isGuarded = true
  return process.stdout
}

function mailerFor(options: MailOptions, services: BrickServices): TemplateMailer {
  const { environment, logger, clock } = services
  const { from, transport, timeout } = readSettings(options, environment)
  const pageOf = pageAddress(options, services)
  if (options.output !== undefined && typeof options.output.write !== 'function')
    throw wrongOption('output', 'is an object without the method write')
  const output = options.output ?? (environment === 'development' ? standardOutput() : undefined)
  const settings: MailerSettings = {
    from,
    transport,
    timeout,
    clock,
    logger,
    pageOf,
    allowPlainPassword: options.allowPlainPassword ?? false,
    outbox: services.mailOutbox,
    named: {
      smtp: options.smtp,
      terminal: {
        print: (text) => (output ? output.write(text) : logger.info(text)),
        pageOf: (messageId) => pageOf(idOf(messageId)),
      },
    },
  }
  const templates = createTemplates(options.templates)
  const mailer: MailService = { ...createMailer(settings), samples: samplesOf(templates, settings) }
  const queue = queueIn(services)
  return templatedMailer(
    queue === undefined ? repeatedMailer(mailer, services) : queuedMailer(mailer, queue, timeout),
    templates,
  )
}

/** Full addresses when the application knows its own, else paths; undefined without a page, as in production. */
function pageAddress(options: MailOptions, core: CoreServices): (id: string) => string | undefined {
  if (pageAccess(options, core) === undefined) return () => undefined
  const { appUrl = '' } = core
  return (id) => `${appUrl}${PAGE_PATH}/${encodeURIComponent(id)}`
}

/** `<id@domain>` holds the outbox id. */
function idOf(messageId: string): string {
  return messageId.slice(1, messageId.indexOf('@'))
}
