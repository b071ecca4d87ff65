import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'
import { type Brick, defineBrick } from 'mortar'
import { traceJobs } from './jobs.ts'
import { traceRequests } from './requests.ts'

const require = createRequire(import.meta.url)

/**
 * OpenTelemetry spans of requests and jobs: one SERVER span per request, named by the pattern of its route, and one CONSUMER
 * span per attempt of a job, linked to the request that added it. They are active in all code that runs inside. The application chooses SDK and exporter; without an SDK no span is made.
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
      const [endRequests, endJobs] = [traceRequests(services, api), traceJobs(services, api)]
      running.set(services, () => {
        endRequests()
        endJobs()
      })
    },
    stop: (services) => {
      running.get(services)?.()
      running.delete(services)
    },
  })
}
