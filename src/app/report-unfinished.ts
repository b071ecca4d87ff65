import type { IncomingMessage } from 'node:http'
import { originForm } from '../context/origin-form.ts'
import type { Logger } from '../contracts/logger.ts'
import { describeRoute, type Route } from '../routing/route.ts'

/** The application of unfinished requests. */
export interface UnfinishedContext {
  /** Seconds that the requests had. */
  readonly timeout: number
  readonly routeOf: (request: { readonly method: string; readonly path: string }) => Route | undefined
  readonly reporter: Logger
}

/** Warns of each route whose requests were not over when the application had to stop. */
export function reportUnfinished(
  requests: readonly IncomingMessage[],
  { timeout, routeOf, reporter }: UnfinishedContext,
): void {
  const counts = new Map<string, number>()
  for (const { method = 'GET', url = '/' } of requests) {
    const path = originForm(url).split('?', 1)[0]!
    const route = routeOf({ method, path })
    const name = route === undefined ? `${method} ${path}` : describeRoute(route)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const [name, count] of counts) {
    const [subject, verb, cut] =
      count === 1
        ? [name, 'was', 'its connection was']
        : [`${count} requests of ${name}`, 'were', 'their connections were']
    reporter.warn(
      `${subject} ${verb} not over ${timeout} s after the stop began, so ${cut} closed. End the response when ctx.signal aborts.`,
    )
  }
}
