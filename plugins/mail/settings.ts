import type { Environment } from 'mortar'
import { bytes, seconds } from 'mortar/kit'
import { defaultTransport, type MailOptions } from './options.ts'
import { wrongOption } from './wrong-option.ts'
import { checkTransport } from './transports/open-transport.ts'
import { fault } from './startup-codes.ts'

const DEFAULT_SIZE = 100
const DEFAULT_BYTES = '64mb'
const DEFAULT_TIMEOUT = '30s'

/**
 * Reads the options for one environment; `timeout` is in seconds. Production has no default transport and stores no
 * messages.
 * @throws StartupError naming the option.
 */
export function readSettings(options: MailOptions, environment: Environment) {
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
  return {
    from: options.from,
    transport,
    limits:
      environment === 'production'
        ? { size: 0, bytes: 0 }
        : {
            size: checkSize(options.outbox?.size ?? DEFAULT_SIZE),
            bytes: bytes(options.outbox?.bytes ?? DEFAULT_BYTES),
          },
    timeout: seconds(options.timeout ?? DEFAULT_TIMEOUT),
  }
}

function checkSize(size: number): number {
  if (Number.isInteger(size) && size >= 0) return size
  throw wrongOption('outbox.size', 'is not a whole number from 0')
}
