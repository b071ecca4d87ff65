import type { IncomingMessage } from 'node:http'
import type { Cradle } from '../container/registration.ts'
import { OpenRequests } from '../context/request-signal.ts'
import type { AssemblyContext } from './assembly-context.ts'
import type { AdapterState } from './direct-adapter.ts'
import { Health } from './health/health.ts'
import { reportUnfinished } from './report-unfinished.ts'

/** The stages of an application, from the first request to the last one. */
export interface Stages {
  /** The responses to probes. */
  readonly health: Health
  readonly state: AdapterState
  /** Closes each connection after its current response; `/readyz` responds with 503. */
  beginToDrain(): void
  /** Drains, aborts `ctx.signal` and ends event streams of open requests. */
  beginToClose(): void
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
    reporter,
    exposeErrors: options.environment !== 'production',
    hasRoute: (path) => dispatcher.routes.some((route) => route.path === path),
  })
  function beginToDrain(): void {
    state.draining = true
    health.stage = 'draining'
  }
  return {
    health,
    state,
    beginToDrain,
    beginToClose() {
      beginToDrain()
      state.closing = true
      state.open.abortAll()
    },
    reportUnfinished: (requests, timeout) =>
      reportUnfinished(requests, { timeout, routeOf: dispatcher.routeOf, reporter }),
  }
}
