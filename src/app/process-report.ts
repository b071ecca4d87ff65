import { isWorker } from '../support/env/process-share.ts'
import { ignore } from '../support/ignore.ts'

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
  /** Primary: the reports of all workers. */
  | {
      readonly mortar: 'report:all'
      readonly name: string
      readonly id: number
      readonly reports: readonly unknown[]
    }

/** A report that each process of an application makes, such as its metrics. */
export interface ProcessReport<T> {
  /** The reports of all processes of `mortar start --workers`, the own one included; without workers the own one. */
  collect(): Promise<readonly T[]>
  /** Ends the participation of this process. */
  stop(): void
}

/** The process, as far as a report needs it. */
export interface ReportChannel {
  send?: ((message: ReportMessage) => unknown) | undefined
  on(event: 'message', listener: (message: unknown) => void): unknown
  off(event: 'message', listener: (message: unknown) => void): unknown
}

/** Milliseconds that `collect` waits for the primary process. */
const PATIENCE = 5000

/**
 * Offers a report of this process to the other workers. Reports are sent as JSON.
 * @param name the same in every process, and unique in the application.
 */
export function shareReport<T>(
  name: string,
  own: () => Promise<T>,
  channel: ReportChannel | undefined = isWorker() ? process : undefined,
): ProcessReport<T> {
  if (channel?.send === undefined) return { collect: async () => [await own()], stop: ignore }
  const waiting = new Map<number, (reports: readonly T[]) => void>()
  let count = 0
  const send = (message: ReportMessage): void => {
    try {
      channel.send?.(message)
    } catch {
      // The primary process is gone, and this process is about to close.
    }
  }
  const answer = async (id: number): Promise<void> =>
    send({ mortar: 'report:own', id, report: await own().catch(() => undefined) })
  const onMessage = (given: unknown): void => {
    const message = given as ReportMessage | undefined
    if (message?.mortar === 'report:ask' && message.name === name) void answer(message.id)
    if (message?.mortar === 'report:all' && message.name === name)
      waiting.get(message.id)?.(message.reports as readonly T[])
  }
  channel.on('message', onMessage)
  send({ mortar: 'report:offer', name })
  return {
    async collect() {
      const id = ++count
      const reports = await new Promise<readonly T[]>((resolve) => {
        const timer = setTimeout(() => resolve([]), PATIENCE)
        waiting.set(id, (all) => {
          clearTimeout(timer)
          resolve(all)
        })
        send({ mortar: 'report:collect', name, id })
      })
      waiting.delete(id)
      return reports.length > 0 ? reports : [await own()]
    },
    stop: () => void channel.off('message', onMessage),
  }
}
