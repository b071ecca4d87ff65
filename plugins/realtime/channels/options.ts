import type { Duration } from 'mortar'
import { checkOptions, milliseconds, type OptionChecks } from 'mortar/kit'
import { fault } from './startup-codes.ts'

/** Options of `channels()`. */
export interface ChannelsOptions {
  /** Folder of the channel files: an absolute path or a `file:` URL. */
  readonly directory: string | URL
  /** Place of the events: `'memory'` for one process, the default; `'database'` (service `db`), or `'redis'` (service `redis`). */
  readonly engine?: 'memory' | 'database' | 'redis'
  /** Path of the route that clients connect to; `'/channels'` by default. */
  readonly path?: string
  /** Most channels of one connection; 100 by default. */
  readonly channelsPerConnection?: number
  /** Time after which the guards of open subscriptions are evaluated again; `'1m'` by default. */
  readonly judgeEvery?: Duration
}

/** The options with defaults; `judgeEvery` is milliseconds. */
export type Settings = ReturnType<typeof readOptions>

const ENGINES = ['memory', 'database', 'redis']

const RULES: OptionChecks<ChannelsOptions>['keys'] = {
  directory: { is: ['string', 'object'], required: true },
  engine: 'string',
  path: 'string',
  channelsPerConnection: 'count',
  judgeEvery: 'timeout',
}

/** @throws StartupError `MORTAR_CHANNELS_OPTION`. */
export function readOptions(options: ChannelsOptions) {
  checkOptions(options, { of: 'channels()', brick: 'channels', code: 'MORTAR_CHANNELS_OPTION', keys: RULES })
  const { directory, engine = 'memory', path = '/channels', channelsPerConnection = 100 } = options
  if (!ENGINES.includes(engine))
    throw fault(
      'MORTAR_CHANNELS_OPTION',
      `channels() has the engine '${engine}', which is not one of ${ENGINES.join(', ')}.`,
    )
  const judgeEvery = milliseconds(options.judgeEvery ?? '1m')
  return { directory, engine, path, channelsPerConnection, judgeEvery }
}
