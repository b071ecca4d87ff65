import ipaddr from 'ipaddr.js'
import type { Duration } from 'mortar'
import { checkOptions, milliseconds, type OptionChecks } from 'mortar/kit'
import { EVENT_NAME, type WebhookEvent } from './event.ts'
import { createLookUp, type LookUp } from './sending/look-up.ts'
import type { Network } from './sending/public-address.ts'
import { fault } from './startup-codes.ts'

/** Options of `webhooks()`. */
export interface WebhooksOptions {
  /** The events that customers can receive. */
  readonly events: readonly WebhookEvent<never>[]
  /** Attempts of one delivery: 10 s after the first one, then after twice as long, up to an hour. 30 by default: a day. */
  readonly attempts?: number
  /** Time limit of one attempt, from the look-up of the name to the end of the response; `'15s'` by default. */
  readonly timeout?: Duration
  /** Deliveries at the same time in one process; 2 by default. */
  readonly concurrency?: number
  /** Deliveries to one endpoint at the same time in one process; by default one fewer than `concurrency`, at least 1. */
  readonly perEndpoint?: number
  /** Time for which the log keeps a delivery; `'30d'` by default. */
  readonly keep?: Duration
  /** An endpoint is disabled after so many failed attempts in succession … 20 by default. */
  readonly disableAfter?: number
  /** … that go on for this time; `'1d'` by default. */
  readonly disableOver?: Duration
  /** Allows `http://` addresses, whose messages everybody on the way can read. */
  readonly http?: boolean
  /** Finds the addresses of a name, which are then checked; by default DNS. */
  readonly lookup?: LookUp
  /** Networks that are allowed although they are not public, such as `10.1.0.0/16`. */
  readonly allowNetworks?: readonly string[]
}

/** The options with defaults. Times are milliseconds. */
export type Settings = ReturnType<typeof readOptions>

const RULES: OptionChecks<WebhooksOptions>['keys'] = {
  events: { is: 'list', required: true },
  attempts: 'count',
  timeout: 'timeout',
  concurrency: 'count',
  perEndpoint: 'count',
  keep: 'period',
  disableAfter: 'count',
  disableOver: 'period',
  http: 'boolean',
  lookup: 'function',
  allowNetworks: 'strings',
}

/** @throws StartupError `MORTAR_WEBHOOKS_OPTION`. */
export function readOptions(options: WebhooksOptions) {
  checkOptions(options, { of: 'webhooks()', brick: 'webhooks', keys: RULES, code: 'MORTAR_WEBHOOKS_OPTION' })
  const { attempts = 30, concurrency = 2, disableAfter = 20 } = options
  const { perEndpoint = Math.max(1, concurrency - 1) } = options
  return {
    events: eventsOf(options.events),
    attempts,
    timeout: milliseconds(options.timeout ?? '15s'),
    concurrency,
    perEndpoint,
    keep: milliseconds(options.keep ?? '30d'),
    disableAfter,
    disableOver: milliseconds(options.disableOver ?? '1d'),
    http: options.http ?? false,
    lookup: options.lookup ?? createLookUp(),
    allowed: (options.allowNetworks ?? []).map(networkOf),
  }
}

function eventsOf(events: WebhooksOptions['events']): ReadonlyMap<string, WebhookEvent<never>> {
  if (!events.every(isEvent)) throw refused('an event that webhookEvent() has not made')
  const named = new Map(events.map((event) => [event.name, event]))
  if (named.size !== events.length) throw refused('two events with one name')
  for (const name of named.keys())
    if (!EVENT_NAME.test(name) || name.length > 100)
      throw refused(`the event '${name}', whose name is not like 'invoice.paid'`)
  return named
}

function isEvent(event: WebhookEvent<never> | null): boolean {
  return typeof event?.name === 'string'
}

function networkOf(text: string): Network {
  try {
    return ipaddr.parseCIDR(text)
  } catch {
    throw refused(`the network '${text}', which is not like '10.1.0.0/16'`)
  }
}

function refused(found: string): Error {
  return fault('MORTAR_WEBHOOKS_OPTION', `webhooks() has ${found}.`)
}
