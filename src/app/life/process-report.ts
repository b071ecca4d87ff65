import { isWorker } from '../../support/env/process-share.ts'
import { sendToParent, type Sender } from '../../support/send-to-parent.ts'
import { withDeadline } from '../../support/with-deadline.ts'

/** The messages between a worker and the primary process of `mortar start --workers` about reports. */
export type ReportMessage =
  /** Worker: it has a report of this name. */
  | { readonly mortar: 'report:offer'; readonly name: string }
  /** Worker: it needs the reports of all workers. */
  | { readonly mortar: 'report:collect'; readonly name: string; readonly id: number }
  /** Primary: it needs the worker's own report. */
  | { readonly mortar: 'report:ask'; readonly name: string; readonly id: number }
  /** Worker: its own report. */
  | { readonly mortar: 'report:own'; readonly id: number; readonly report: unknown }
  /** Worker: it is about to end, and this is its last report. */
  | { readonly mortar: 'report:last'; readonly name: string; readonly report: unknown }
  /** Primary: the reports of all workers. */
  | {
      readonly mortar: 'report:all'
      readonly name: string
      readonly id: number
      readonly reports: readonly unknown[]
      /** Latest reports of workers that have not responded. */
      readonly late: readonly unknown[]
      /** Last reports of workers that have ended. */
      readonly ended: readonly unknown[]
      /** Number that changes when reports in `ended` are combined. */
      readonly revision: number
    }
  /** Worker: one report in place of the first `count` reports of `ended`. */
  | {
      readonly mortar: 'report:combined'
      readonly name: string
      readonly revision: number
      readonly count: number
      readonly report: unknown
    }

/** A report that each process of an application makes, such as its metrics. */
export interface ProcessReport<T> {
  /**
   * The reports of all processes of `mortar start --workers`, the own one included, and with `combineEnded` the combined
   * reports of the workers that have ended and of those that do not respond; without workers the own one.
   */
  collect(): Promise<readonly T[]>
  /** Ends the participation of this process, with its last report. */
  stop(): Promise<void>
}

/** Settings of `shareReport`. */
export interface ReportOptions<T> {
  /**
   * Combines last reports of workers that have ended or do not respond, without the values that end with a worker. The
   * reports may be combined already. Without it the reports of a worker end with that worker.
   */
  readonly combineEnded?: ((reports: readonly T[]) => Promise<T>) | undefined
  readonly channel?: ReportChannel | undefined
}

/** The process, as far as a report needs it. */
export interface ReportChannel extends Sender<ReportMessage> {
  on(event: 'message', listener: (message: unknown) => void): unknown
  off(event: 'message', listener: (message: unknown) => void): unknown
}

type AllReports = Extract<ReportMessage, { mortar: 'report:all' }>

/** Seconds that `collect` waits for the primary process. */
const PATIENCE = 5

/**
 * Offers a report of this process to the other workers. Reports are sent as JSON.
 * @param name the same in every process, and unique in the application.
 */
export function shareReport<T>(
  name: string,
  own: () => Promise<T>,
  { combineEnded, channel = isWorker() ? process : undefined }: ReportOptions<T> = {},
): ProcessReport<T> {
  if (channel?.send === undefined) return { collect: async () => [await own()], stop: async () => undefined }
  const waiting = new Map<number, (all: AllReports) => void>()
  let count = 0
  const send = (message: ReportMessage): Promise<void> => sendToParent(channel, message)
  const answer = async (id: number): Promise<void> =>
    send({ mortar: 'report:own', id, report: await own().catch(() => undefined) })
  const onMessage = (given: unknown): void => {
    const message = given as ReportMessage | undefined
    if (message?.mortar === 'report:ask' && message.name === name) void answer(message.id)
    if (message?.mortar === 'report:all' && message.name === name) waiting.get(message.id)?.(message)
  }
  channel.on('message', onMessage)
  void send({ mortar: 'report:offer', name })

  async function askAll(): Promise<AllReports | undefined> {
    const id = ++count
    const response = new Promise<AllReports>((resolve) => {
      waiting.set(id, resolve)
    })
    void send({ mortar: 'report:collect', name, id })
    const all = await withDeadline(response, PATIENCE).catch(() => undefined)
    waiting.delete(id)
    return all
  }

  return {
    async collect() {
      const all = await askAll()
      const reports = all === undefined || all.reports.length === 0 ? [await own()] : (all.reports as T[])
      if (combineEnded === undefined || all === undefined) return reports
      const { late, ended, revision } = all
      const [report] = await combined(ended as T[], combineEnded)
      if (ended.length > 1)
        void send({ mortar: 'report:combined', name, revision, count: ended.length, report })
      return [...reports, ...(report ? [report] : []), ...(await combined(late as T[], combineEnded))]
    },
    async stop() {
      channel.off('message', onMessage)
      if (combineEnded === undefined) return
      const report = await own().catch(() => undefined)
      if (report !== undefined) await send({ mortar: 'report:last', name, report })
    },
  }
}

async function combined<T>(
  reports: readonly T[],
  combine: (reports: readonly T[]) => Promise<T>,
): Promise<readonly T[]> {
  return reports.length === 0 ? [] : [await combine(reports)]
}
