import { defineBrick, singleton, type Brick } from 'mortar'
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
    start: async ({ db, environment, logger }) => {
      try {
        await checkTables(db)
      } catch (cause) {
        const error = fault('MORTAR_WEBHOOKS_TABLE', 'The database has no tables for the webhooks.', {
          cause,
        })
        // A migration may be about to create them.
        if (environment === 'production') throw error
        logger.warn(
          { brick: 'webhooks', code: error.code },
          `${error.message} Production refuses to start without them.`,
        )
      }
    },
  })
}

async function checkTables(db: DataSource): Promise<void> {
  for (const entity of [MortarWebhookEndpoints, MortarWebhookDeliveries])
    await db.getRepository<{ id: string }>(entity).find({ take: 1, select: { id: true } })
}
