/**
 * A process of several that count limits together, as the options of a scene say. `/storm?count=250` sends that many
 * requests to its own limited route at the same time and returns how often each status came; with `keys` to that many keys
 * in turn; with `open` they run during a transaction of the application, which is then rolled back.
 */
import { createApp, createRouter, type App } from 'mortar'
import { createDataSource, database, type ConnectionOptions } from '@mortar/database'
import { limits } from '@mortar/limits'
import * as schema from '@mortar/limits/schema'
import { redis } from '@mortar/redis'
import type { DataSource } from 'typeorm'
import { playScenes, type Scene } from '../../support/play-scenes.ts'

/** Settings of a process. */
export interface MemberOptions {
  readonly store: 'database' | 'redis'
  readonly connection?: ConnectionOptions
  readonly redis?: string
  /** Time limit of the store. */
  readonly timeout: string
}

async function open({ store, connection, redis: server, timeout }: MemberOptions): Promise<Scene> {
  const source =
    connection && createDataSource({ ...connection, poolSize: 4, entities: schema } as ConnectionOptions)
  const plain = createApp({ environment: 'test', logger: false })
  const withStore = (source
    ? plain.use(database(source))
    : plain.use(redis({ url: server! }))) as unknown as App
  const app: App = withStore.use(limits({ store, timeout }))
  app.use(routes(app, source))
  const { url } = await app.listen(0, '127.0.0.1')
  return {
    url,
    async close() {
      await app.close()
      if (source?.isInitialized) await source.destroy()
    },
  }
}

function routes(app: App, source: DataSource | undefined) {
  return createRouter()
    .get(
      '/limited/:key',
      { limit: { limit: 100, window: '1h', by: ({ params }) => params['key']! } },
      () => 'ok',
    )
    .get('/storm/:key', async ({ params, query }) => {
      const storm = (): Promise<Record<number, number>> =>
        send(app, params.key, Number(query['count']), Number(query['keys'] ?? 1))
      if (query['open'] === undefined) return storm()
      let result: Record<number, number> = {}
      await inTransaction(source, async () => {
        result = await storm()
      })
      return result
    })
}

async function send(app: App, key: string, count: number, keys: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  const replies = await Promise.all(
    Array.from({ length: count }, (_, index) => app.inject(`/limited/${key}-${index % keys}`)),
  )
  for (const { statusCode } of replies) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}

/** Runs work while a transaction of the application has written, and rolls it back. */
async function inTransaction(source: DataSource | undefined, work: () => Promise<void>): Promise<void> {
  const rollback = new Error('rolled back on purpose')
  if (source === undefined) return work()
  try {
    await source.transaction(async (manager) => {
      await manager.getRepository(schema.MortarLimits).insert({ key: 'application', points: 1, expire: 1 })
      await work()
      throw rollback
    })
  } catch (error) {
    if (error !== rollback) throw error
  }
}

await playScenes(open)
