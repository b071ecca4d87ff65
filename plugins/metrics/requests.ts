import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Registry } from 'prom-client'
import { REQUEST_CHANNEL, type ObservedRequest } from 'mortar'
import { KNOWN_METHODS } from 'mortar/kit'
import type { MetricsSettings } from './options.ts'
import { loadPromClient } from './prom-client.ts'

const START = `tracing:${REQUEST_CHANNEL}:start`
const END = `tracing:${REQUEST_CHANNEL}:asyncEnd`

/**
 * Measures the requests of one application. The labels of a series come from the routes and never from a client, so
 * that unknown paths and methods add no series.
 * @param services identify the application, because all applications of a process share the channel.
 * @returns a function that ends the measurement.
 */
export function measureRequests(
  services: object,
  registry: Registry,
  { prefix, buckets, path, server }: MetricsSettings,
): () => void {
  const { Gauge, Histogram } = loadPromClient()
  const registers = [registry]
  const durations = new Histogram({
    name: `${prefix}http_server_request_duration_seconds`,
    help: 'Duration of HTTP requests from their headers to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [...buckets],
    registers,
  })
  const active = new Gauge({
    name: `${prefix}http_server_active_requests`,
    help: 'HTTP requests in flight.',
    registers,
  })
  const began = Symbol('began')
  type Measured = ObservedRequest & { [began]?: number }
  const own = server === undefined ? path : undefined
  function start(message: unknown): void {
    const request = message as Measured
    if (request.services !== services || (own !== undefined && request.route === own)) return
    request[began] = performance.now()
    active.inc()
  }
  function end(message: unknown): void {
    const request = message as Measured
    // A request without a beginning was in flight before the subscription, or is not counted here.
    if (request[began] === undefined) return
    active.dec()
    const { method, route = '', status = 0 } = request
    const labels = { method: KNOWN_METHODS.has(method) ? method : '_OTHER', route, status }
    durations.observe(labels, (performance.now() - request[began]) / 1000)
  }
  subscribe(START, start)
  subscribe(END, end)
  return () => {
    unsubscribe(START, start)
    unsubscribe(END, end)
  }
}
