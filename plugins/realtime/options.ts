import type { Duration, Size } from 'mortar'
import { bytes, checkOptions, milliseconds, type OptionChecks } from 'mortar/kit'
import { fault } from './startup-codes.ts'

/** Bounds of each socket, which a route can set for its own. */
export interface SocketBounds {
  /** Largest message of a client: bytes, or a size such as `'1mb'`; `'64kb'` by default. */
  readonly maxMessage?: Size
  /** Most output that waits for a slow client: bytes, or a size; `'1mb'` by default. */
  readonly maxBuffered?: Size
  /** Most messages and pings of a client per second; 100 by default. */
  readonly messageRate?: number
  /** Treatment of an invalid message: a problem to the client, by default, or the end of the socket. */
  readonly invalid?: 'report' | 'close'
  /** True to compress messages if the client can: it costs much memory for each socket. */
  readonly compress?: boolean
}

/** Options of `realtime()`. */
export interface RealtimeOptions extends SocketBounds {
  /** Origins of pages besides the application's own that may open sockets: `https://app.example.com`. */
  readonly origins?: readonly string[]
  /** Most sockets, and streams of channels, of a process; 10,000 by default. */
  readonly sockets?: number
  /** Most of them in a process of one user, or of one network without a user; 50 by default. */
  readonly socketsPerClient?: number
  /** Time without a sign of life after which a client gets a ping. After the same time again it is lost; `'30s'` by default. */
  readonly ping?: Duration
}

/** The bounds of a route with defaults; sizes are bytes. */
export type Bounds = Readonly<Required<SocketBounds>> & {
  readonly maxMessage: number
  readonly maxBuffered: number
}

/** The options of the brick with defaults; `ping` is milliseconds. */
export type Settings = ReturnType<typeof readOptions>

const BOUNDS: Bounds = {
  maxMessage: 65_536,
  maxBuffered: 1_048_576,
  messageRate: 100,
  invalid: 'report',
  compress: false,
}

const BOUND_RULES: OptionChecks<SocketBounds>['keys'] = {
  maxMessage: 'size',
  maxBuffered: 'size',
  messageRate: 'count',
  invalid: 'string',
  compress: 'boolean',
}

/** The keys of `SocketBounds`. */
export const BOUND_KEYS = Object.keys(BOUND_RULES) as readonly (keyof SocketBounds)[]

/** @throws StartupError `MORTAR_REALTIME_OPTION`. */
export function readOptions(options: RealtimeOptions) {
  check(options, 'realtime()', {
    ...BOUND_RULES,
    origins: 'strings',
    sockets: 'count',
    socketsPerClient: 'count',
    ping: 'timeout',
  })
  const { origins = [], sockets = 10_000, socketsPerClient = 50, ping = '30s', ...bounds } = options
  const wrong = origins.find((origin) => !isOrigin(origin))
  if (wrong !== undefined) throw refusal('realtime()', `origins with '${wrong}', which is not an origin`)
  return {
    bounds: { ...BOUNDS, ...readBounds(bounds, 'realtime()') },
    origins,
    sockets,
    socketsPerClient,
    ping: milliseconds(ping),
  }
}

/** Reads the bounds that are set. @throws StartupError `MORTAR_REALTIME_OPTION`. */
export function readBounds(bounds: SocketBounds, of: string): Partial<Bounds> {
  check(bounds, of, BOUND_RULES)
  const { maxMessage, maxBuffered, invalid, ...others } = bounds
  if (invalid !== undefined && invalid !== 'report' && invalid !== 'close')
    throw refusal(of, `the value '${String(invalid)}' for invalid, which is neither 'report' nor 'close'`)
  return {
    ...(maxMessage !== undefined && { maxMessage: bytes(maxMessage) }),
    ...(maxBuffered !== undefined && { maxBuffered: bytes(maxBuffered) }),
    ...(invalid !== undefined && { invalid }),
    ...others,
  }
}

function check<T extends object>(options: T, of: string, keys: OptionChecks<T>['keys']): void {
  checkOptions(options, { of, brick: 'realtime', code: 'MORTAR_REALTIME_OPTION', keys })
}

function isOrigin(text: string): boolean {
  return /^https?:[^*]*$/i.test(text) && URL.canParse(text)
}

function refusal(of: string, found: string): Error {
  return fault('MORTAR_REALTIME_OPTION', `${of} has ${found}.`)
}
