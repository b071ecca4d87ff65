import { AsyncLocalStorage } from 'node:async_hooks'
import type { Statement } from './interruptions.ts'

/** A flow of a schedule: its statements wait until they are released. */
export interface Scheduled<Result = unknown> {
  /** Statements that wait, in the order in which they came. */
  readonly waiting: { readonly statement: Statement | undefined; readonly release: () => void }[]
  isDone: boolean
  result: Result | undefined
}

/** The flow whose statement comes; one for all schedules. */
const acting = new AsyncLocalStorage<Scheduled>()

/**
 * Runs flows of several processes one statement at a time. `pass` is the gate before each statement; what belongs to no
 * scheduled flow, or comes after the end of its flow, passes immediately.
 */
export class Schedule {
  private readonly flows: Scheduled[] = []
  private changed: () => void = () => undefined

  /** Called before each statement. */
  readonly pass = (statement: Statement | undefined): Promise<void> | undefined => {
    const flow = acting.getStore()
    if (flow === undefined || flow.isDone) return undefined
    return new Promise((release) => {
      flow.waiting.push({ statement, release })
      this.changed()
    })
  }

  /** Starts a flow, which runs until its first statement. A flow that fails has no result. */
  start<Result>(work: () => Promise<Result>): Scheduled<Result> {
    const flow: Scheduled<Result> = { waiting: [], isDone: false, result: undefined }
    this.flows.push(flow)
    const finish = (result?: Result): void => {
      flow.isDone = true
      flow.result = result
      this.changed()
    }
    void acting.run(flow, () => work().then(finish, () => finish()))
    return flow
  }

  /** Resolves when each flow waits or is done. */
  async quiet(): Promise<void> {
    while (this.flows.some((flow) => !flow.isDone && flow.waiting.length === 0))
      await new Promise<void>((resolve) => {
        this.changed = resolve
      })
  }

  /** Flows that have a statement to release. */
  open(): Scheduled[] {
    return this.flows.filter(({ waiting }) => waiting.length > 0)
  }

  /** Releases the next statement of a flow. */
  async release(flow: Scheduled): Promise<void> {
    flow.waiting.shift()!.release()
    await this.quiet()
  }

  /** Releases a flow until it is done, or its next statement is of this kind. */
  async run(flow: Scheduled, until?: Statement): Promise<void> {
    await this.quiet()
    const isThere = (): boolean => until !== undefined && flow.waiting[0]!.statement === until
    while (flow.waiting.length > 0 && !isThere()) await this.release(flow)
  }
}
