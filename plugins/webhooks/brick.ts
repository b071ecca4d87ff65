import { defineBrick, singleton, type Brick } from 'mortar'
import { requireInProduction, schemaFindings, warnOfLongNumber } from 'mortar/kit'
import type { DataSource } from 'typeorm'
import { readOptions, type WebhooksOptions } from './options.ts'
import { PROBLEMS } from './problems.ts'
import { MortarWebhookDeliveries, MortarWebhookEndpoints } from './schema.ts'
import { createWebhooks, type Webhooks } from './service.ts'
import { fault, STARTUP_CODES } from './startup-codes.ts'

// Tells other bricks the type of the service.
declare module 'mortar' {
  interface KnownServices {
    webhooks: Webhooks
  }
  interface KnownMembers {
    readonly webhooks: Webhooks
  }
}

/**
 * Webhooks for customers: the service `webhooks`, which is also `ctx.webhooks`. Messages are signed, sent by jobs and
 * logged.
 * @throws StartupError `MORTAR_WEBHOOKS_OPTION`; at the start of production `MORTAR_WEBHOOKS_TABLE`.
 */
export function webhooks(
  options: WebhooksOptions,
): Brick<'webhooks', { webhooks: Webhooks }, { webhooks: Webhooks }> {
  const settings = readOptions(options)
  return defineBrick({
    name: 'webhooks',
    peers: { from: import.meta.url, packages: ['typeorm'] },
    requires: ['db', 'jobQueue'],
    problems: PROBLEMS,
    startupCodes: STARTUP_CODES,
    services: {
      webhooks: singleton(({ db, jobQueue, clock, events }) =>
        createWebhooks(settings, { db, jobQueue, clock, events }),
      ),
    },
    members: { webhooks: ({ webhooks: service }) => service },
    start: (services) => {
      warnOfLongNumber('timeout of webhooks()', options.timeout, services.logger)
      return requireInProduction(services, 'webhooks', () => checkTables(services.db))
    },
    doctor: (services) =>
      schemaFindings(services, ['mortar_webhook_endpoints', 'mortar_webhook_deliveries'], () =>
        fault('MORTAR_WEBHOOKS_TABLE', 'The schema module lacks tables of the webhooks.'),
      ),
  })
}

async function checkTables(db: DataSource): Promise<void> {
  try {
    for (const entity of [MortarWebhookEndpoints, MortarWebhookDeliveries])
      await db.getRepository<{ id: string }>(entity).find({ take: 1, select: { id: true } })
  } catch (cause) {
    throw fault('MORTAR_WEBHOOKS_TABLE', 'The database has no tables for the webhooks.', { cause })
  }
}
