import type { Environment } from 'mortar'
import { bytes, seconds } from 'mortar/kit'
import { defaultTransport, type MailOptions, type MailTransport } from './options.ts'
import type { OutboxLimits } from './outbox.ts'
import { wrongOption } from './wrong-option.ts'
import { checkTransport } from './transports/open-transport.ts'
import { fault } from './startup-codes.ts'

const DEFAULT_SIZE = 100
const DEFAULT_BYTES = '64mb'
const DEFAULT_TIMEOUT = '30s'
/** setTimeout takes 31 bits of milliseconds; beyond that it fires immediately. */
const MAX_TIMEOUT = 2_147_483

/** Options after checks, defaults and conversion. */
export interface MailSettings {
  readonly from: string
  readonly transport: MailTransport
  readonly limits: OutboxLimits
  /** Seconds. */
  readonly timeout: number
}

/**
 * Reads the options for one environment. Production has no default transport and stores no messages.
 * @throws StartupError naming the option.
 */
export function readSettings(options: MailOptions, environment: Environment): MailSettings {
  const transport = options.transport || defaultTransport(environment)
  if (transport === undefined)
    throw fault(
      'MORTAR_MAIL_NO_TRANSPORT',
      'The mail brick has no transport, and production has no default one.',
      {
        remedy:
          "Give one: mail({ from, transport: 'smtps://user:pass@host' }). To drop all mail on purpose, transport: 'memory'.",
      },
    )
  checkTransport(transport)
  checkSender(options.from)
  checkKnown(options)
  return {
    from: options.from,
    transport,
    limits:
      environment === 'production'
        ? { size: 0, bytes: 0 }
        : {
            size: checkSize(options.outbox?.size ?? DEFAULT_SIZE),
            bytes: read('outbox.bytes', () => bytes(options.outbox?.bytes ?? DEFAULT_BYTES)),
          },
    timeout: read('timeout', () => checkTimeout(seconds(options.timeout ?? DEFAULT_TIMEOUT))),
  }
}

/** The option `hosts` was replaced by `page`; ignoring it would close the page silently. */
function checkKnown(options: MailOptions): void {
  if ('hosts' in options) throw wrongOption('hosts', 'is now `page: { hosts }`')
  const { allowPlainPassword } = options
  if (allowPlainPassword !== undefined && typeof allowPlainPassword !== 'boolean')
    throw wrongOption('allowPlainPassword', 'is not true or false')
}

function checkSender(from: unknown): void {
  if (typeof from !== 'string' || !from.includes('@'))
    throw wrongOption(
      'from',
      "is not an address such as 'hello@example.com' or 'Example <hello@example.com>'",
    )
}

function checkSize(size: number): number {
  if (Number.isInteger(size) && size >= 0) return size
  throw wrongOption('outbox.size', 'is not a whole number from 0')
}

function checkTimeout(timeout: number): number {
  if (timeout > 0 && timeout <= MAX_TIMEOUT) return timeout
  throw new RangeError('not between 0 and 24 days')
}

function read<T>(option: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw wrongOption(option, `cannot be read: ${(error as Error).message}`)
  }
}
