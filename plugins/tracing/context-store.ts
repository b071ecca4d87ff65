import type { AsyncLocalStorage } from 'node:async_hooks'
import type * as OpenTelemetry from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'

/**
 * The context of OpenTelemetry as a store that a channel can bind: a channel only calls `run`. The API offers no other
 * access to the storage of the context manager.
 */
export function contextStore({ context }: typeof OpenTelemetry): AsyncLocalStorage<Context> {
  const store = { run: (active: Context, inside: () => unknown): unknown => context.with(active, inside) }
  return store as unknown as AsyncLocalStorage<Context>
}
