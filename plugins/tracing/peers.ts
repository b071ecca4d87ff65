import type * as OpenTelemetry from '@opentelemetry/api'
import { loadPeer, type PeerNeed } from '../../src/index.ts'

/** The package of the tracing brick. The application installs an SDK itself, or none. */
export const tracingNeed: PeerNeed = {
  of: "the brick 'tracing'",
  peers: { from: import.meta.url, packages: ['@opentelemetry/api'] },
}

/** Loads the OpenTelemetry API, which finds the SDK of the process by itself. */
export const loadApi = (): typeof OpenTelemetry => loadPeer('@opentelemetry/api', tracingNeed)
