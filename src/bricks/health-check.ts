import type { CoreServices, Cradle } from '../contracts/services.ts'
import { StartupError } from '../errors/startup-error.ts'
import { checkOptions } from '../support/check-options.ts'
import { isLongNumber, isTimeout, seconds, TIME_LIMIT, type Duration } from '../support/duration.ts'

/**
 * Tests one dependency. The check fails if the function throws, rejects or returns `false`, or if it does not settle in
 * time. `signal` aborts at the end of the time; the function must then settle.
 */
export type RunHealthCheck<Services = Cradle> = (services: Services, signal: AbortSignal) => unknown

/** A check with its limits. */
export interface HealthCheckOptions<Services = Cradle> {
  readonly run: RunHealthCheck<Services>
  /** Time limit of a run: seconds or a duration, 1 s by default. */
  readonly timeout?: Duration
  /** Time for which a result is reused: seconds or a duration, 5 s by default. */
  readonly cache?: Duration
}

/** A check of the slot `checks` or of `app.check`: a function, or a function with limits. */
export type HealthCheck<Services = Cradle> = RunHealthCheck<Services> | HealthCheckOptions<Services>

/** Checks by name. */
export type HealthChecks<Services = CoreServices> = Readonly<Record<string, HealthCheck<Cradle<Services>>>>

/** A check with its defaults. Times are in milliseconds. */
export interface NamedCheck {
  readonly name: string
  /** The owner, for messages: `the brick 'database'`. */
  readonly origin: string
  readonly run: RunHealthCheck
  readonly timeout: number
  readonly cache: number
}

const TIME = ['number', 'string'] as const
const KEYS = { run: { is: 'function', required: true }, timeout: TIME, cache: TIME } as const
const NAME = /^[a-z][\w-]*$/i

/**
 * Fills in the defaults of a check.
 * @throws StartupError `MORTAR_CHECK` for a wrong name, function or duration.
 */
export function readCheck(name: string, check: HealthCheck, origin: string): NamedCheck {
  const of = `the check '${name}' of ${origin}`
  const given = typeof check === 'function' ? { run: check } : check
  checkOptions<HealthCheckOptions>(given, { of, code: 'MORTAR_CHECK', keys: KEYS })
  const { run, timeout = '1s', cache = '5s' } = given
  const isWord = typeof name === 'string' && NAME.test(name)
  const fault = isWord ? faultOfTimes(timeout, cache) : 'has a name that is not a word'
  if (fault !== undefined)
    throw new StartupError(`The check '${name}' of ${origin} ${fault}.`, {
      code: 'MORTAR_CHECK',
      remedy:
        "Write db: { run: (services, signal) => …, timeout: '1s', cache: '5s' }, or the function alone.",
    })
  return { name, origin, run, timeout: seconds(timeout) * 1000, cache: seconds(cache) * 1000 }
}

function faultOfTimes(timeout: Duration, cache: Duration): string | undefined {
  if (!isShort(timeout) || seconds(timeout) === 0) return `has a timeout that is 0, or is not ${TIME_LIMIT}`
  return isShort(cache) ? undefined : `has a cache that is not ${TIME_LIMIT}`
}

/** A check with a number above an hour is meant in milliseconds. */
function isShort(time: Duration): boolean {
  return isTimeout(time) && !isLongNumber(time)
}
