import type { EventEmitter } from 'node:events'
import type { ReportMessage } from '../../app/process-report.ts'

/** A worker, as far as reports need it. */
interface ReportingWorker {
  isConnected(): boolean
  send(message: ReportMessage, onSent: (error: Error | null) => void): unknown
}

/** A worker that collects the reports of all workers. */
interface Collection {
  readonly awaited: Set<ReportingWorker>
  readonly reports: unknown[]
  readonly finish: () => void
}

/** Milliseconds that the other workers have for their reports. */
const PATIENCE = 2000

/**
 * Passes reports between workers: one worker asks, every worker that has offered a report of that name responds, and
 * the asking worker gets all reports. A worker that ends or does not respond in time is left out.
 * @param cluster the events of all workers; `node:cluster` in production.
 */
export function relayReports(cluster: EventEmitter): void {
  const offers = new Map<string, Set<ReportingWorker>>()
  const collections = new Map<number, Collection>()
  let count = 0

  function collect(asking: ReportingWorker, name: string, id: number): void {
    const awaited = new Set([...(offers.get(name) ?? [])].filter((worker) => worker.isConnected()))
    const own = ++count
    const reports: unknown[] = []
    const finish = (): void => {
      clearTimeout(timer)
      collections.delete(own)
      send(asking, { mortar: 'report:all', name, id, reports })
    }
    const timer = setTimeout(finish, PATIENCE)
    collections.set(own, { awaited, reports, finish })
    for (const worker of awaited) send(worker, { mortar: 'report:ask', name, id: own })
    if (awaited.size === 0) finish()
  }

  function receive(worker: ReportingWorker, collection: Collection | undefined, report: unknown): void {
    if (collection?.awaited.delete(worker) !== true) return
    if (report !== undefined && report !== null) collection.reports.push(report)
    if (collection.awaited.size === 0) collection.finish()
  }

  cluster.on('message', (worker: ReportingWorker, given: unknown) => {
    const message = given as ReportMessage | null | undefined
    if (message?.mortar === 'report:offer')
      offers.set(message.name, (offers.get(message.name) ?? new Set()).add(worker))
    else if (message?.mortar === 'report:collect') collect(worker, message.name, message.id)
    else if (message?.mortar === 'report:own') receive(worker, collections.get(message.id), message.report)
  })
  cluster.on('disconnect', (worker: ReportingWorker) => {
    for (const workers of offers.values()) workers.delete(worker)
    for (const collection of collections.values()) receive(worker, collection, undefined)
  })
}

function send(worker: ReportingWorker, message: ReportMessage): void {
  // A worker that has just ended cannot be reached; its `disconnect` follows.
  if (worker.isConnected()) worker.send(message, () => undefined)
}
