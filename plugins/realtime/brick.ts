import { defineBrick, singleton, type Authenticator, type Brick, type Gauges } from 'mortar'
import { optionalService } from 'mortar/kit'
import { readOptions, type RealtimeOptions } from './options.ts'
import { PROBLEMS } from './problems.ts'
import { Sockets } from './sockets.ts'
import { STARTUP_CODES } from './startup-codes.ts'

/** The service `realtime`. */
export interface Realtime {
  /** Number of open sockets and streams of this process. */
  readonly size: number
}

// Tells other bricks the type of the service.
declare module 'mortar' {
  interface KnownServices {
    readonly realtime: Realtime
  }
}

/**
 * WebSocket routes, which `defineSocket` makes: bounded, and closed when their session ends or the application stops.
 * @throws StartupError `MORTAR_REALTIME_OPTION`.
 */
export function realtime(options: RealtimeOptions = {}): Brick<'realtime', { realtime: Realtime }> {
  const settings = readOptions(options)
  return defineBrick({
    name: 'realtime',
    peers: { from: import.meta.url },
    // Handlers use the other bricks, so the sockets end first.
    after: ['database', 'mail', 'auth', 'redis', 'limits', 'jobs', 'webhooks', 'metrics', 'tracing'],
    problems: PROBLEMS,
    startupCodes: STARTUP_CODES,
    upgrades: ['websocket'],
    services: {
      realtime: singleton((services): Sockets => {
        const authenticator = optionalService<Authenticator>(services, 'authenticator')
        return new Sockets(settings, [...services.trustedOrigins, ...(authenticator?.trustedOrigins ?? [])])
      }),
    },
    start: ({ gauges, realtime: sockets }) => addGauges(gauges, sockets),
    stop: ({ realtime: sockets }) => sockets.stop(),
  })
}

function addGauges(gauges: Gauges, sockets: Sockets): void {
  gauges.add('realtime_sockets', { help: 'Open sockets, and streams of channels.', read: () => sockets.size })
  gauges.add('realtime_messages_total', {
    help: 'Messages of sockets, by direction.',
    label: 'direction',
    isCounter: true,
    read: () => new Map(Object.entries(sockets.totals)),
  })
  gauges.add('realtime_closed_total', {
    help: 'Closed sockets, by the code of the end.',
    label: 'code',
    isCounter: true,
    read: () => sockets.closed,
  })
}
