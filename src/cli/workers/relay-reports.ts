import type { EventEmitter } from 'node:events'
import type { ReportMessage } from '../../app/life/process-report.ts'

/** A worker, as far as reports need it. */
interface ReportingWorker {
  isConnected(): boolean
  send(message: ReportMessage, onSent: (error: Error | null) => void): unknown
}

/** The reports of one name. */
interface Shared {
  /** The latest report of each worker that has offered one; undefined before the first. */
  readonly workers: Map<ReportingWorker, unknown>
  /** Last reports of workers that have ended. */
  readonly ended: unknown[]
  /** Number that changes when reports in `ended` are combined. */
  revision: number
}

/** A worker that collects the reports of all workers. */
interface Collection {
  readonly shared: Shared
  readonly awaited: Set<ReportingWorker>
  readonly reports: Map<ReportingWorker, unknown>
  /** Continues when no worker is awaited any more. */
  next: () => void
}

/** Milliseconds that the other workers have for their reports: longer than it takes the watch to see a silent worker. */
const PATIENCE = 2500

/** Most reports in `ended`: an application whose reports nobody reads could end workers for months. */
const MOST_ENDED = 100

/**
 * Passes reports between workers: one worker asks, every worker that has offered a report of that name responds, and
 * the asking worker gets all reports. It makes its own report last, so that it knows by then who does not respond. The
 * latest report of a worker that does not respond in time is sent as late. One that ends counts from then on with its
 * last report, or if it crashed with its latest one.
 * @param cluster the events of all workers; `node:cluster` in production.
 */
export function relayReports(cluster: EventEmitter): void {
  const names = new Map<string, Shared>()
  const collections = new Map<number, Collection>()
  let count = 0

  function sharedOf(name: string): Shared {
    const shared = names.get(name) ?? { workers: new Map(), ended: [], revision: 0 }
    names.set(name, shared)
    return shared
  }

  function collect(asking: ReportingWorker, name: string, id: number): void {
    const shared = sharedOf(name)
    const own = ++count
    const ask = (worker: ReportingWorker): void => send(worker, { mortar: 'report:ask', name, id: own })
    const done = (reports: readonly unknown[], late: readonly unknown[]): void => {
      collections.delete(own)
      const { ended, revision } = shared
      send(asking, { mortar: 'report:all', name, id, reports, late, ended, revision })
    }
    const collection = startCollection({ shared, asking, ask, done })
    if (collection.awaited.size > 0) collections.set(own, collection)
  }

  function end(worker: ReportingWorker, shared: Shared, report: unknown): void {
    if (!shared.workers.delete(worker)) return
    if (isReport(report) && shared.ended.length < MOST_ENDED) shared.ended.push(report)
    for (const collection of collections.values()) {
      if (collection.shared !== shared) continue
      receive(worker, collection, undefined)
      collection.reports.delete(worker)
    }
  }

  cluster.on('message', (worker: ReportingWorker, given: unknown) => {
    const message = given as ReportMessage | null | undefined
    if (message?.mortar === 'report:offer') sharedOf(message.name).workers.set(worker, undefined)
    else if (message?.mortar === 'report:collect') collect(worker, message.name, message.id)
    else if (message?.mortar === 'report:own') receive(worker, collections.get(message.id), message.report)
    else if (message?.mortar === 'report:last') end(worker, sharedOf(message.name), message.report)
    else if (message?.mortar === 'report:combined') combine(sharedOf(message.name), message)
  })
  cluster.on('disconnect', (worker: ReportingWorker) => {
    for (const shared of names.values()) end(worker, shared, shared.workers.get(worker))
  })
}

/** Parts that a collection works with. */
interface CollectionContext {
  readonly shared: Shared
  readonly asking: ReportingWorker
  readonly ask: (worker: ReportingWorker) => void
  readonly done: (reports: readonly unknown[], late: readonly unknown[]) => void
}

function startCollection({ shared, asking, ask, done }: CollectionContext): Collection {
  const others = [...shared.workers.keys()].filter((worker) => worker !== asking && worker.isConnected())
  const collection: Collection = { shared, awaited: new Set(others), reports: new Map(), next: askLast }
  const late: unknown[] = []
  const timer = setTimeout(askLast, PATIENCE)
  for (const worker of others) ask(worker)
  if (others.length === 0) askLast()
  return collection

  function askLast(): void {
    clearTimeout(timer)
    for (const worker of collection.awaited) late.push(shared.workers.get(worker))
    collection.awaited.clear()
    collection.next = () => done([...collection.reports.values()].filter(isReport), late.filter(isReport))
    // A worker that ends while it asks has sent its last report already.
    if (!shared.workers.has(asking)) return collection.next()
    collection.awaited.add(asking)
    ask(asking)
  }
}

/** Adds the report of a worker to a collection. Undefined for a worker that has none. */
function receive(worker: ReportingWorker, collection: Collection | undefined, report: unknown): void {
  if (collection?.awaited.delete(worker) !== true) return
  collection.reports.set(worker, report)
  if (isReport(report)) collection.shared.workers.set(worker, report)
  if (collection.awaited.size === 0) collection.next()
}

/** Replaces reports by their combination, unless another worker has done so since they were sent. */
function combine(
  shared: Shared,
  { revision, count, report }: Extract<ReportMessage, { mortar: 'report:combined' }>,
) {
  if (revision !== shared.revision) return
  shared.ended.splice(0, count, report)
  shared.revision += 1
}

/** False for the report of a worker that failed to make one. */
function isReport(report: unknown): boolean {
  return report !== undefined && report !== null
}

function send(worker: ReportingWorker, message: ReportMessage): void {
  // A worker that has just ended cannot be reached; its `disconnect` follows.
  if (worker.isConnected()) worker.send(message, () => undefined)
}
