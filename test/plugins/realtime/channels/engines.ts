import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { createApp, type AppOptions } from 'mortar'
import { database, type ConnectionOptions } from '@mortar/database'
import { realtime } from '@mortar/realtime'
import { channels, type ChannelsOptions } from '@mortar/realtime/channels'
import * as channelSchema from '@mortar/realtime/channels/schema'
import { redis } from '@mortar/redis'
import { runStatement } from '../../../support/run-statement.ts'
import { serverUrl } from '../../../support/servers.ts'
import { KINDS, type Owner } from '../../database/databases.ts'
import { createUsers, DIRECTORY } from './channel-app.ts'

/** The engine of one test with its servers, as JSON for another process. */
export interface Place {
  readonly engine: NonNullable<ChannelsOptions['engine']>
  /** The database of the application, which has the events of the engine `database`. */
  readonly connection: ConnectionOptions
  readonly redis?: { readonly url: string; readonly prefix: string }
}

const ON_DATABASE = Object.entries(KINDS).map(
  ([kind, prepare]) =>
    [
      kind,
      (owner?: Owner) => {
        const made = prepare(owner)
        return (): Place => ({ engine: 'database', connection: made().options() })
      },
    ] as const,
)

/** The engines by name, as `KINDS`: call one first in the body of a `describe`. */
export const ENGINES: Readonly<Record<string, (owner?: Owner) => () => Place>> = {
  memory: (owner) => {
    const made = KINDS['SQLite']!(owner)
    return () => ({ engine: 'memory', connection: made().options() })
  },
  ...Object.fromEntries(ON_DATABASE),
  Redis: (owner) => {
    const url = serverUrl('TEST_REDIS_URL')
    const made = KINDS['SQLite']!(owner)
    const [first, last] = owner === 'suite' ? [before, after] : [beforeEach, afterEach]
    let prefix = ''
    first(() => {
      prefix = `mortar-${randomUUID()}:`
    })
    last(() => removeKeys({ url, prefix }))
    return () => ({ engine: 'redis', connection: made().options(), redis: { url, prefix } })
  },
}

/** An application whose channels are at a place. */
export function engineApp(
  { engine, connection, redis: server }: Place,
  options: Partial<ChannelsOptions> = {},
  { synchronize = true, ...settings }: AppOptions & { readonly synchronize?: boolean } = {},
) {
  const users = createUsers()
  const app = createApp({ logger: false, environment: 'test', signals: false, ...settings })
    .use(users.brick)
    .use(database({ ...connection, entities: [channelSchema], synchronize }))
  if (server !== undefined) app.use(redis({ url: server.url, options: { keyPrefix: server.prefix } }))
  return { users, app: app.use(realtime()).use(channels({ directory: DIRECTORY, engine, ...options })) }
}

/** Deletes all events, as the eviction of Redis or somebody at the database can do. */
export async function forgetEvents({ connection, redis: server }: Place): Promise<void> {
  if (server === undefined) await runStatement(connection, `delete from ${tableOf(connection)}`)
  else await removeKeys(server)
}

function tableOf(connection: ConnectionOptions): string {
  const { schema } = connection as { readonly schema?: string }
  return `${schema === undefined ? '' : `${schema}.`}mortar_channel_events`
}

async function removeKeys({ url, prefix }: NonNullable<Place['redis']>): Promise<void> {
  const client = new Redis(url)
  const keys = await client.keys(`${prefix}*`)
  if (keys.length > 0) await client.del(...keys)
  await client.quit()
}
