import { database, type ConnectionOptions } from '@mortar/database'
import * as channelSchema from '@mortar/realtime/channels/schema'
import type { ChannelsOptions } from '@mortar/realtime/channels'
import type { AppOptions } from 'mortar'
import { realtime } from '@mortar/realtime'
import { channels } from '@mortar/realtime/channels'
import { createApp } from 'mortar'
import { KINDS, type TestDatabase } from '../../database/databases.ts'
import { createUsers, DIRECTORY } from './channel-app.ts'

/** The databases by name, as `KINDS`, with the tables of channels. */
export const DATABASES: Readonly<Record<string, () => () => TestDatabase>> = Object.fromEntries(
  Object.entries(KINDS).map(([kind, prepare]) => [kind, () => prepare()]),
)

/** An application whose channels are in a database. The first one makes the tables. */
export function databaseApp(
  connection: ConnectionOptions,
  options: Partial<ChannelsOptions> = {},
  settings: AppOptions = {},
  synchronize = true,
) {
  const users = createUsers()
  const app = createApp({ logger: false, environment: 'test', signals: false, ...settings })
    .use(users.brick)
    .use(database({ ...connection, entities: [channelSchema], synchronize }))
    .use(realtime())
    .use(channels({ directory: DIRECTORY, engine: 'database', ...options }))
  return { app, users }
}
