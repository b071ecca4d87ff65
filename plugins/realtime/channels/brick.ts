import { createRouter, defineBrick, singleton, type Brick, type BrickEntry, type Gauges } from 'mortar'
import { findingsOf, schemaFindings } from 'mortar/kit'
import { definitionOf } from './channel.ts'
import { channelRoute } from './connect.ts'
import { TABLES } from './database-engine.ts'
import { loadChannels, type LoadedChannel } from './load-channels.ts'
import { readOptions, type ChannelsOptions } from './options.ts'
import { PROBLEMS } from './problems.ts'
import { createRuntime, guardsOf, runtimeOf, type Channels, type Publish, type Runtime } from './runtime.ts'
import { fault, STARTUP_CODES } from './startup-codes.ts'

// Tells other bricks the type of the service, and policies the type of the member.
declare module 'mortar' {
  interface KnownServices {
    readonly channels: Channels
  }
  interface KnownMembers {
    readonly publish: Publish
  }
}

/**
 * Channels: events from the application to subscribed clients in all processes, with replay and presence. The files of a
 * directory are the channels, `ctx.publish(rooms({ id }), 'message', data)` publishes, and clients subscribe over one route.
 * @throws StartupError `MORTAR_CHANNELS_OPTION`; at the start `MORTAR_CHANNELS_FILE`, `MORTAR_CHANNELS_DIRECTORY` and
 * `MORTAR_CHANNELS_TABLE`.
 */
export function channels(
  options: ChannelsOptions,
): Brick<'channels', { channels: Channels }, { publish: Publish }> {
  const settings = readOptions(options)
  const needs = { memory: [], database: ['db'], redis: ['redis'] }[settings.engine]
  return defineBrick({
    name: 'channels',
    peers: { from: import.meta.url },
    requires: ['realtime', ...needs],
    after: ['database', 'mail', 'auth', 'redis', 'limits', 'jobs', 'webhooks', 'metrics', 'tracing'],
    problems: PROBLEMS,
    startupCodes: STARTUP_CODES,
    services: { channels: singleton((services) => createRuntime(settings, services).channels) },
    members: { publish: ({ channels: service }) => service.publish },
    routes: [createRouter().get(settings.path, channelRoute())],
    start: async ({ channels: service, gauges }) => {
      const runtime = runtimeOf(service)
      await runtime.start()
      addGauges(gauges, runtime)
    },
    work: ({ channels: service }, { servesRequests }) => {
      if (servesRequests) runtimeOf(service).work()
    },
    stop: ({ channels: service }) => runtimeOf(service).stop(),
    doctor: async (services) => [
      ...(await findingsOf(() => loadChannels(settings.directory), 'docs/realtime.md')),
      ...(await schemaFindings(services, settings.engine === 'database' ? Object.values(TABLES) : [], () =>
        fault('MORTAR_CHANNELS_TABLE', 'The schema module lacks tables of the channels.'),
      )),
    ],
    entries: async (services) => {
      const found = await loadChannels(settings.directory)
      guardsOf(found, services)
      return found.all.map((each) => entryOf(each, settings.path))
    },
  })
}

function addGauges(gauges: Gauges, { hub }: Runtime): void {
  gauges.add('channels_subscriptions', { help: 'Open subscriptions.', read: () => hub.size })
  gauges.add('channels_events_total', {
    help: 'Events that were published, and events that were delivered to subscribers.',
    label: 'kind',
    isCounter: true,
    read: () => new Map(Object.entries(hub.totals)),
  })
}

function entryOf(loaded: LoadedChannel, over: string): BrickEntry {
  const { name, file, pattern: path, auth, events, hasPresence, keep } = loaded
  const settings = {
    auth: Array.isArray(auth) ? auth.join(', ') : (auth as string | boolean),
    events: [...events.keys()].join(', '),
    keep: `${keep / 1000}s`,
    ...(hasPresence && { presence: true }),
  }
  const { events: send } = definitionOf(loaded.channel)!
  return { kind: 'channel', name, file, settings, messages: { path, auth, send, over } }
}
