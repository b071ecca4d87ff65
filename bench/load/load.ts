import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { pinned } from '../cores.ts'
import type { WireRequest } from '../workloads/workload.ts'
import { prepare } from './prepared.ts'

/** Requests to send, and the time for them. */
export interface LoadTask {
  readonly port: number
  /** An array of them is sent to the own generator once, for all tasks and servers that it is for. */
  readonly requests: readonly WireRequest[]
  /** Any other status counts as an error. */
  readonly status: number
  readonly connections: number
  /** Requests under way on each connection. */
  readonly pipelining: number
  readonly seconds: number
}

/** The count of the responses; their times are in milliseconds. */
export interface LoadResult {
  readonly responses: number
  readonly errors: number
  /** The number of responses by unexpected status; only the own generator counts them. */
  readonly statuses?: Readonly<Record<string, number>>
  readonly failure?: string
  readonly seconds: number
  /** Share of its core that the client used. Near 1, the client may limit the throughput. */
  readonly busy: number
  readonly p50: number
  readonly p99: number
}

/** A load generator. */
export interface Load {
  readonly name: string
  measure(task: LoadTask): Promise<LoadResult>
  /** Drops the requests of all tasks so far. */
  forget(): void
  stop(): void
}

/** The own load generator, in a Node process on the client's core. */
export function createLoad(): Load {
  const child = startChild('generator.js')
  const keys = new Map<readonly WireRequest[], number>()
  let lastKey = 0
  return {
    name: 'own',
    measure({ requests, ...task }) {
      let key = keys.get(requests)
      if (key === undefined) {
        key = ++lastKey
        keys.set(requests, key)
        child.send({ prepare: key, ...prepare(requests) })
      }
      child.send({ key, ...task })
      return resultOf(child)
    },
    forget() {
      keys.clear()
      child.send({ forget: true })
    },
    stop: () => void child.kill('SIGKILL'),
  }
}

/** autocannon, in a Node process on the client's core; some of the requests, because each connection prepares them all. */
export function createAutocannon(): Load {
  const child = startChild('autocannon.js')
  return {
    name: 'autocannon',
    measure(task) {
      child.send({ ...task, requests: someOf(task.requests).slice(0, 64) })
      return resultOf(child)
    },
    forget: () => undefined,
    stop: () => void child.kill('SIGKILL'),
  }
}

/** The number of requests that other load generators keep in memory. */
export function someOf(requests: readonly WireRequest[]): readonly WireRequest[] {
  return requests.slice(0, requests[0]?.tail === undefined ? 4000 : 64)
}

function startChild(script: string): ChildProcess {
  return fork(`${import.meta.dirname}/${script}`, [], { ...pinned('client', []), serialization: 'advanced' })
}

async function resultOf(child: ChildProcess): Promise<LoadResult> {
  const [result] = (await once(child, 'message')) as [LoadResult]
  return result
}
