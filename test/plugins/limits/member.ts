/**
 * One process of several that count limits together, as its first argument (JSON) says. It prints its address and ends
 * with its input. `/storm?count=250` sends that many requests to its own limited route at the same time and returns how
 * often each status came; with `keys` to that many keys in turn; with `open` they run during a transaction of the application, which is then rolled back.
 */
import { createApp, createRouter, type App } from 'mortar'
import { createDataSource, database, type ConnectionOptions } from '@mortar/database'
import { limits } from '@mortar/limits'
import * as schema from '@mortar/limits/schema'
import { redis } from '@mortar/redis'
import type { DataSource } from 'typeorm'

/** Settings of a process. */
export interface MemberOptions {
  readonly store: 'database' | 'redis'
  readonly connection?: ConnectionOptions
  readonly redis?: string
  /** Time limit of the store. */
  readonly timeout: string
}

const options = JSON.parse(process.argv[2]!) as MemberOptions
const source = options.connection && createDataSource({ ...options.connection, entities: schema })

const limited = createRouter()
  .get(
    '/limited/:key',
    { limit: { limit: 100, window: '1h', by: ({ params }) => params['key']! } },
    () => 'ok',
  )
  .get('/storm/:key', async ({ params, query }) => {
    const storm = (): Promise<Record<number, number>> =>
      send(params.key, Number(query['count']), Number(query['keys'] ?? 1))
    if (query['open'] === undefined) return storm()
    let result: Record<number, number> = {}
    await inTransaction(async () => {
      result = await storm()
    })
    return result
  })

const plain = createApp({ environment: 'test', logger: false })
const withStore = (source
  ? plain.use(database(source))
  : plain.use(redis({ url: options.redis! }))) as unknown as App
const app: App = withStore.use(limits({ store: options.store, timeout: options.timeout })).use(limited)

async function send(key: string, count: number, keys: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  const replies = await Promise.all(
    Array.from({ length: count }, (_, index) => app.inject(`/limited/${key}-${index % keys}`)),
  )
  for (const { statusCode } of replies) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}

/** Runs work while a transaction of the application has written, and rolls it back. */
async function inTransaction(work: () => Promise<void>): Promise<void> {
  const rollback = new Error('rolled back on purpose')
  const db: DataSource | undefined = source
  if (db === undefined) return work()
  try {
    await db.transaction(async (manager) => {
      await manager.getRepository(schema.MortarLimits).insert({ key: 'application', points: 1, expire: 1 })
      await work()
      throw rollback
    })
  } catch (error) {
    if (error !== rollback) throw error
  }
}

const { url } = await app.listen(0, '127.0.0.1')
console.log(url)
await process.stdin.resume().toArray()
await app.close()
if (source?.isInitialized) await source.destroy()
