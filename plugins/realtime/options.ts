import type { Duration, Size } from 'mortar'
import { bytes, checkOptions, seconds, type OptionChecks } from 'mortar/kit'
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
export interface Bounds {
  readonly maxMessage: number
  readonly maxBuffered: number
  readonly messageRate: number
  readonly invalid: 'report' | 'close'
  readonly compress: boolean
}

/** The options of the brick with defaults; `ping` is milliseconds. */
export interface Settings {
  readonly bounds: Bounds
  readonly origins: readonly string[]
  readonly sockets: number
  readonly socketsPerClient: number
  readonly ping: number
}

const BOUNDS: Bounds = {
  maxMessage: 65_536,
  maxBuffered: 1_048_576,
  messageRate: 100,
  invalid: 'report',
  compress: false,
}

const BOUND_RULES: OptionChecks<SocketBounds>['keys'] = {
  maxMessage: ['number', 'string'],
  maxBuffered: ['number', 'string'],
  messageRate: 'number',
  invalid: 'string',
  compress: 'boolean',
}

/** The keys of `SocketBounds`. */
export const BOUND_KEYS = Object.keys(BOUND_RULES) as readonly (keyof SocketBounds)[]

/** @throws StartupError `MORTAR_REALTIME_OPTION`. */
export function readOptions(options: RealtimeOptions): Settings {
  check(options, 'realtime()', {
    ...BOUND_RULES,
    origins: 'strings',
    sockets: 'number',
    socketsPerClient: 'number',
    ping: ['number', 'string'],
  })
  const { origins = [], sockets = 10_000, socketsPerClient = 50, ping = '30s', ...bounds } = options
  const wrong = origins.find((origin) => !isOrigin(origin))
  if (wrong !== undefined) throw refusal('realtime()', `origins with '${wrong}', which is not an origin`)
  return {
    bounds: { ...BOUNDS, ...readBounds(bounds, 'realtime()') },
    origins,
    sockets: count('realtime()', 'sockets', sockets),
    socketsPerClient: count('realtime()', 'socketsPerClient', socketsPerClient),
    ping: 1000 * positive('realtime()', 'ping', () => seconds(ping)),
  }
}

/** Reads the bounds that are set. @throws StartupError `MORTAR_REALTIME_OPTION`. */
export function readBounds(bounds: SocketBounds, of: string): Partial<Bounds> {
  check(bounds, of, BOUND_RULES)
  const { maxMessage, maxBuffered, messageRate, invalid, compress } = bounds
  if (invalid !== undefined && invalid !== 'report' && invalid !== 'close')
    throw refusal(of, `the value '${String(invalid)}' for invalid, which is neither 'report' nor 'close'`)
  return {
    ...(maxMessage !== undefined && { maxMessage: positive(of, 'maxMessage', () => bytes(maxMessage)) }),
    ...(maxBuffered !== undefined && { maxBuffered: positive(of, 'maxBuffered', () => bytes(maxBuffered)) }),
    ...(messageRate !== undefined && { messageRate: count(of, 'messageRate', messageRate) }),
    ...(invalid !== undefined && { invalid }),
    ...(compress !== undefined && { compress }),
  }
}

function check<T extends object>(options: T, of: string, keys: OptionChecks<T>['keys']): void {
  checkOptions(options, { of, brick: 'realtime', code: 'MORTAR_REALTIME_OPTION', keys })
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function count(of: string, name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value
  throw refusal(of, `${name} that is not a whole number from 1`)
}

function positive(of: string, name: string, read: () => number): number {
  try {
    const value = read()
    if (value > 0) return value
  } catch {
    // Reported below, with the name.
  }
  throw refusal(of, `${name} that is not above zero`)
}

function refusal(of: string, found: string): Error {
  return fault('MORTAR_REALTIME_OPTION', `${of} has ${found}.`)
}
