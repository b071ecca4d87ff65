import type { Gauges } from '../../contracts/gauges.ts'
import type { WorkersState } from './messages.ts'

/**
 * Adds the gauges of all workers to an application. Each worker has its own view of at most a second ago, so the worst of
 * all views counts.
 * @param read returns the last state that the primary process has sent.
 */
export function addWorkerGauges(gauges: Gauges, read: () => WorkersState | undefined): void {
  gauges.add('mortar_workers', {
    help: 'Workers that should run.',
    combine: 'max',
    read: () => read()?.up.length,
  })
  gauges.add('mortar_workers_responding', {
    help: 'Workers that are ready and respond.',
    combine: 'min',
    read: () => read()?.up.filter(Boolean).length,
  })
  gauges.add('mortar_worker_up', {
    help: '1 for a worker that is ready and responds, else 0.',
    label: 'worker',
    combine: 'min',
    read: () => mapOf(read()?.up.map((isUp, index) => [String(index + 1), Number(isUp)])),
  })
  gauges.add('mortar_worker_restarts_total', {
    help: 'Workers that were replaced without a reload.',
    label: 'reason',
    combine: 'max',
    isCounter: true,
    read: () => mapOf(Object.entries(read()?.restarts ?? {})),
  })
}

function mapOf(entries: readonly (readonly [string, number])[] = []): ReadonlyMap<string, number> {
  return new Map(entries)
}
