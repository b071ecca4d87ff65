import { type Brick, defineBrick } from '../../src/index.ts'
import { loadApi, tracingNeed } from './peers.ts'
import { traceRequests } from './requests.ts'

/**
 * OpenTelemetry spans of requests: one SERVER span per request, named by the pattern of its route and active in
 * middleware, handlers and services. The application chooses SDK and exporter; without an SDK no span is made.
 */
export function tracing(): Brick<'tracing'> {
  /** Functions that end what `start` began, by the services of the application. */
  const running = new WeakMap<object, () => void>()
  return defineBrick({
    name: 'tracing',
    peers: tracingNeed.peers,
    start: (services) => void running.set(services, traceRequests(services, loadApi())),
    stop: (services) => {
      running.get(services)?.()
      running.delete(services)
    },
  })
}
