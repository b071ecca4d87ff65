import type { Gauges } from '../contracts/gauges.ts'
import type { Outages } from '../contracts/outages.ts'
import { isHttpError, type HttpError } from '../errors/http-error.ts'

/** The 503s of an application that a brick or the application foresees, such as a database that is away. */
export type Unavailable = ReturnType<typeof createUnavailable>

/** Logs 503s without stacks. The gauge `mortar_unavailable_total` counts the responses by problem code. */
export function createUnavailable(outages: Outages, gauges: Gauges) {
  const responses = countResponses(gauges)
  return {
    /** Logs a 503 by `logUnavailable`. */
    log: (error: HttpError, fields: object) => logUnavailable(outages, error, fields),
    /** Counts a response. */
    count: ({ code }: HttpError) => void responses.set(code, (responses.get(code) ?? 0) + 1),
  }
}

/** Logs the first 503 of a cause; those that follow are counted. */
export function logUnavailable(outages: Outages, error: HttpError, fields: object): void {
  const { code } = error
  outages.log({
    part: code,
    error,
    // An operator has switched the maintenance mode on.
    level: code === 'maintenance' ? 'warn' : 'error',
    message: `Service unavailable (${code})`,
    fields: { event: 'request.unavailable', code, ...fields },
  })
}

/** Returns the numbers of responses by code, which a gauge shows. */
function countResponses(gauges: Gauges): Map<string, number> {
  const responses = new Map<string, number>()
  gauges.add('mortar_unavailable_total', {
    help: 'Responses with the status 503, by problem code.',
    label: 'code',
    isCounter: true,
    read: () => responses,
  })
  return responses
}

/** True for a 503 that is a decision and not a failure. */
export function isUnavailable(error: unknown): error is HttpError {
  return isHttpError(error) && error.status === 503
}
