import { fork } from 'node:child_process'
import { once } from 'node:events'
import { pinned } from '../cores.ts'
import type { WireRequest } from '../workloads.ts'

/** What to send, and for how long. */
export interface LoadTask {
  readonly port: number
  readonly requests: readonly WireRequest[]
  /** Any other status counts as an error. */
  readonly status: number
  readonly connections: number
  /** Requests under way on each connection. */
  readonly pipelining: number
  readonly seconds: number
}

/** What came back. Times of responses in milliseconds. */
export interface LoadResult {
  readonly responses: number
  readonly errors: number
  /** How often each status came that was not the expected one; only the own generator counts them. */
  readonly statuses?: Readonly<Record<string, number>>
  readonly failure?: string
  readonly seconds: number
  /** Share of its core that the client used: near 1, the client may be what limits the throughput. */
  readonly busy: number
  readonly p50: number
  readonly p99: number
}

/** A load generator. */
export interface Load {
  readonly name: string
  measure(task: LoadTask): Promise<LoadResult>
  stop(): void
}

/** A load generator that runs in a Node process of its own, on the client's core. */
export function createLoad(name: 'own' | 'autocannon'): Load {
  const script = name === 'own' ? 'generator.js' : 'autocannon.js'
  const child = fork(`${import.meta.dirname}/${script}`, [], {
    ...pinned('client', []),
    serialization: 'advanced',
  })
  return {
    name,
    async measure(task) {
      child.send(task)
      const [result] = (await once(child, 'message')) as [LoadResult]
      return result
    },
    stop: () => void child.kill('SIGKILL'),
  }
}
