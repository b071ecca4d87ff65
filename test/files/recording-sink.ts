import type { RouteBatch, RouteSink } from '../../src/routing/route-sink.ts'

/** A sink that records its calls, in place of an application. */
export interface RecordingSink extends RouteSink {
  readonly batches: RouteBatch[]
  readonly loads: { readonly directory: string; readonly work: Promise<unknown> }[]
  readonly warnings: string[]
}

export function createRecordingSink(): RecordingSink {
  const batches: RouteBatch[] = []
  const loads: RecordingSink['loads'] = []
  const warnings: string[] = []
  return {
    batches,
    loads,
    warnings,
    addRoutes: (batch) => void batches.push(batch),
    trackLoad(work, directory) {
      loads.push({ directory, work })
      return work
    },
    warn: (message) => void warnings.push(message),
  }
}
