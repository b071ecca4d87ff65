import type * as BullMQ from 'bullmq'
import type { ConnectionOptions, Queue, Worker } from 'bullmq'
import { loadPeer, withDeadline } from 'mortar/kit'
import { LEASE } from '../engine.ts'
import { ALWAYS, type Carried, type Ended } from './carried-job.ts'

/** Options of `bullmq()`. */
export interface BullmqOptions {
  /** The Redis server, as BullMQ reads it: `{ url: 'redis://localhost:6379' }`, or a client. */
  readonly connection: ConnectionOptions
  /** Begin of all keys in Redis; `'mortar'` by default. Applications that share a Redis need different ones. */
  readonly prefix?: string
  /** Milliseconds after which another process takes over the job of a process that died; 30,000 by default. */
  readonly lease?: number
}

/** The queue of the jobs with one name. */
export interface Carrier {
  readonly queue: Queue<Carried>
  readonly worker: Worker<Carried>
  /** Nothing waited; the queue is asked again at this moment. */
  idleUntil: number
  /** The search for jobs of processes that died. Only processes that work on jobs begin it. */
  watch?: Promise<void>
}

/** The queues of an application, which share one connection. */
export type Carriers = ReturnType<typeof createCarriers>

export const PEERS = { from: import.meta.url, packages: ['bullmq'] } as const
/** Milliseconds after which a command has failed. */
const COMMAND = 10_000
/** Options of ioredis. A server that has become a replica refuses each write; a new connection leads to another one. */
const CONNECTION = {
  commandTimeout: COMMAND,
  // The network of a connection that does not respond may never work again: another one is opened.
  socketTimeout: COMMAND / 2,
  reconnectOnError: ({ message }: Error) => /^READONLY |-READONLY /.test(message),
}

export function createCarriers(
  { connection, prefix = 'mortar', lease = LEASE }: BullmqOptions,
  names: () => readonly string[],
) {
  const library = loadPeer<typeof BullMQ>('bullmq', { of: "the brick 'jobs'", peers: PEERS })
  const options = {
    connection: 'on' in connection ? connection : { ...CONNECTION, ...connection },
    prefix,
    lockDuration: lease,
    stalledInterval: lease / 2,
    maxStalledCount: ALWAYS,
    autorun: false,
  }
  const workerOptions = {
    ...options,
    settings: { backoffStrategy: (_made: number, _type?: string, error?: Error) => (error as Ended).after },
  }
  const carriers = new Map<string, Carrier>()
  let opened: Queue | undefined
  const base = (): Queue => (opened ??= quiet(new library.Queue('jobs', options)))

  function of(name: string): Carrier {
    const found = carriers.get(name)
    if (found !== undefined) return found
    // BullMQ refuses a colon.
    const queueName = name.replaceAll(':', '.')
    const shared = () => base().getBackend().forQueue(queueName)
    const made: Carrier = {
      // Their types know BullMQ's own connections alone.
      queue: quiet(new library.Queue(queueName, options, shared)) as unknown as Queue<Carried>,
      worker: quiet(new library.Worker(queueName, null, workerOptions, shared)) as unknown as Worker<Carried>,
      idleUntil: 0,
    }
    carriers.set(name, made)
    return made
  }

  const all = (): readonly Carrier[] => names().map((name) => of(name))
  return {
    lease,
    /** @throws the error of the connection. */
    // BullMQ itself would wait for ever.
    open: () => withDeadline(base().waitUntilReady(), COMMAND / 1000),
    connected: () => connected(base()),
    of,
    /** The queues of all jobs that this process can run. */
    all,
    async find(id: string) {
      const found = await Promise.all(all().map(({ queue }) => queue.getJob(id)))
      return found.find((job) => job !== undefined)
    },
    async close() {
      for (const { worker } of carriers.values()) await worker.close()
      await opened?.close()
    },
  }
}

/**
 * Waits for a lost connection. A claim that is too late to be answered would still be sent, and keep a job from all
 * processes.
 */
async function connected(queue: Queue): Promise<void> {
  if ((await queue.getBackend().client).status !== 'ready') await queue.getVersion()
}

/** Each command rejects with its own error, which the worker of jobs logs. */
function quiet<E extends { on(event: 'error', listener: () => void): unknown }>(emitter: E): E {
  emitter.on('error', () => undefined)
  return emitter
}
