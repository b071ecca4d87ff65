import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { EngineMaker } from '@mortar/jobs'
import { bullmq } from '@mortar/jobs/bullmq'
import { pgBoss } from '@mortar/jobs/pg-boss'
import { runStatement } from '../../support/run-statement.ts'
import { serverUrl } from '../../support/servers.ts'
import { KINDS, type TestDatabase } from '../database/databases.ts'

/** A database of one test, and the options of the jobs in it. */
export type JobsPlace = TestDatabase & { readonly settings: { readonly engine?: EngineMaker } }

const TABLES = Object.entries(KINDS).map(
  ([kind, prepare]) =>
    [
      kind,
      () => {
        const place = prepare()
        return () => ({ ...place(), settings: {} })
      },
    ] as const,
)

/** The engines by name, as `KINDS`: call one first in the body of a `describe`. */
export const ENGINES: Readonly<Record<string, () => () => JobsPlace>> = {
  ...Object.fromEntries(TABLES),
  'BullMQ beside SQLite': () => {
    const redis = redisOfTests()
    const place = KINDS['SQLite']!()
    return () => ({ ...place(), settings: { engine: bullmq(redis().options) } })
  },
  'pg-boss': () => {
    const place = KINDS['PostgreSQL']!()
    const schema = pgBossOfTests(() => place())
    return () => ({ ...place(), settings: { engine: pgBoss({ schema: schema() }) } })
  },
}

/** Keys in Redis of one test, which are removed after it. */
interface RedisPlace {
  readonly options: { readonly connection: { readonly url: string }; readonly prefix: string }
  clear(): Promise<void>
}

export function redisOfTests(): () => RedisPlace {
  const url = serverUrl('TEST_REDIS_URL')
  let prefix = ''
  async function clear(): Promise<void> {
    const redis = new Redis(url)
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(...keys)
    await redis.quit()
  }
  beforeEach(() => {
    prefix = `mortar-${randomUUID()}`
  })
  afterEach(clear)
  return () => ({ options: { connection: { url }, prefix }, clear })
}

/** The schema of pg-boss for one test, which is removed after it. */
export function pgBossOfTests(place: () => TestDatabase): () => string {
  let schema = ''
  beforeEach(() => {
    schema = `pgboss_${randomUUID().slice(0, 8)}`
  })
  afterEach(() => runStatement(place().options(), `drop schema if exists ${schema} cascade`))
  return () => schema
}
