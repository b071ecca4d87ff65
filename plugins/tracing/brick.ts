import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'
import { type Brick, defineBrick } from 'mortar'
import { traceRequests } from './requests.ts'

const require = createRequire(import.meta.url)

/**
 * OpenTelemetry spans of requests: one SERVER span per request, named by the pattern of its route and active in
 * middleware, handlers and services. The application chooses SDK and exporter; without an SDK no span is made.
 */
export function tracing(): Brick<'tracing'> {
  /** Functions that end what `start` began, by the services of the application. */
  const running = new WeakMap<object, () => void>()
  return defineBrick({
    name: 'tracing',
    peers: { from: import.meta.url },
    // The API finds the SDK of the process by itself.
    start: (services) => {
      const api = require('@opentelemetry/api') as typeof OpenTelemetry
      running.set(services, traceRequests(services, api))
    },
    stop: (services) => {
      running.get(services)?.()
      running.delete(services)
    },
  })
}
