import type { IncomingMessage } from 'node:http'
import type { Cradle } from '../../contracts/services.ts'
import type { AdapterState } from '../../context/adapter-state.ts'
import { originForm } from '../../context/origin-form.ts'
import { OpenRequests } from '../../context/request-signal.ts'
import type { Logger } from '../../contracts/logger.ts'
import { applicationVersion } from '../../support/env/environment.ts'
import { describeRoute, type Route } from '../../routing/route.ts'
import type { AssemblyContext } from '../assembly-context.ts'
import { Health } from './health/health.ts'

/** The stages of an application, from the first request to the last one. */
export interface Stages {
  /** The responses to probes. */
  readonly health: Health
  readonly state: AdapterState
  /** Aborts when the application begins to drain. */
  readonly stopping: AbortSignal
  /** Closes each connection after its current response; `/readyz` responds with 503. */
  beginToDrain(): void
  /** Drains, and aborts `ctx.signal` and ends event streams of open requests. */
  beginToClose(): Promise<void>
  /** Warns of the routes of requests that were not over after `timeout` seconds. */
  reportUnfinished(requests: readonly IncomingMessage[], timeout: number): void
}

/** Creates the stages of an application that starts. */
export function createStages({ options, container, dispatcher }: AssemblyContext): Stages {
  const { reporter } = options
  const state: AdapterState = { draining: false, closing: false, reporter, open: new OpenRequests() }
  const health = new Health({
    options: options.health,
    services: container.cradle as Cradle,
    exposeErrors: options.environment !== 'production',
    version: applicationVersion(),
    hasRoute: (path) => dispatcher.routes.some((route) => route.path === path),
  })
  const stopping = new AbortController()
  function beginToDrain(): void {
    state.draining = true
    stopping.abort()
    health.stage = 'draining'
  }
  return {
    health,
    state,
    stopping: stopping.signal,
    beginToDrain,
    beginToClose() {
      beginToDrain()
      state.closing = true
      return state.open.abortAll()
    },
    reportUnfinished: (requests, timeout) =>
      reportUnfinished(requests, { timeout, routeOf: dispatcher.routeOf, reporter }),
  }
}

/** The application of unfinished requests. */
interface UnfinishedContext {
  /** Seconds that the requests had. */
  readonly timeout: number
  readonly routeOf: (request: { readonly method: string; readonly path: string }) => Route | undefined
  readonly reporter: Logger
}

/** Warns of each route whose requests were not over when the application had to stop. */
function reportUnfinished(
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
