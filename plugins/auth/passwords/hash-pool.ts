/*
 * argon2 runs on libuv's threads, which file access and DNS share. Without a limit a flood of logins delays every file
 * read of the process. So a few hashes run concurrently, some more wait, and the rest are refused. Checked by
 * test/plugins/auth/passwords/hash-pool.test.ts.
 */
import { availableParallelism } from 'node:os'
import { processShare, ServiceUnavailable, type Clock } from 'mortar'
import { systemClock, threadPoolSize } from 'mortar/kit'

/** Threads of libuv's pool that hashing leaves to files, DNS and compression. */
const SPARE_THREADS = 2
/** Waiting hashes per running one; at 35 ms a hash the last in the queue waits about 2 s. */
const QUEUE_PER_PLACE = 64
const FIRST_GUESS = 35

/** Limits of password hashing. */
export interface HashPoolOptions {
  /** Size of libuv's thread pool; by default from `UV_THREADPOOL_SIZE`. */
  readonly threads?: number
  /**
   * Concurrent hashes; by default the number of cores, divided by the number of `processes`, and at most `threads` minus
   * two.
   */
  readonly concurrency?: number
  /** Maximum waiting hashes; by default 64 per concurrent one, or fewer if there are more processes than cores. */
  readonly queue?: number
  /** Processes that hash on this machine; by default as `processShare()` returns. */
  readonly processes?: number
  readonly clock?: Clock
}

/** Runs a few tasks at a time, in the order of their arrival. */
export type HashPool = ReturnType<typeof createHashPool>

/** Creates a pool. */
export function createHashPool(options: HashPoolOptions = {}) {
  const { clock = systemClock } = options
  const { concurrency, capacity } = limitsOf(options)
  const queue: (() => void)[] = []
  let running = 0
  let usual = FIRST_GUESS

  async function run<T>(task: () => Promise<T>): Promise<T> {
    if (running < concurrency) running += 1
    else await place()
    const begin = clock.now()
    try {
      return await task()
    } finally {
      usual += (clock.now() - begin - usual) / 8
      release()
    }
  }

  function refuseWhenFull(): void {
    const full = running >= concurrency && queue.length >= capacity
    if (full) throw busy((queue.length * usual) / concurrency / 1000)
  }

  function place(): Promise<void> {
    refuseWhenFull()
    return new Promise((resolve) => {
      queue.push(resolve)
    })
  }

  /** The slot passes directly to the next task in the queue, so that a new task cannot overtake it. */
  function release(): void {
    const next = queue.shift()
    if (next) next()
    else running -= 1
  }

  return {
    /**
     * Runs `task` when a slot is free. The slot is released when the task itself ends, even if its caller has left.
     * @throws ServiceUnavailable with `Retry-After` when the queue is full.
     */
    run,
    /**
     * Checks the queue for callers with work before their hash, so that a flood is refused cheaply.
     * @throws ServiceUnavailable with `Retry-After` when the queue is full.
     */
    refuseWhenFull,
    get running() {
      return running
    },
    get waiting() {
      return queue.length
    },
  }
}

/** Divides the cores, so that all processes of a machine together run as many hashes as a single one would. */
function limitsOf(options: HashPoolOptions): { readonly concurrency: number; readonly capacity: number } {
  const { threads = threadPoolSize(), processes = processShare().count } = options
  const cores = availableParallelism() / processes
  const concurrency = options.concurrency ?? Math.max(1, Math.floor(Math.min(cores, threads - SPARE_THREADS)))
  // A process with less than one core works its queue off more slowly.
  const speed = options.concurrency ?? Math.min(concurrency, cores)
  return { concurrency, capacity: options.queue ?? Math.ceil(QUEUE_PER_PLACE * speed) }
}

function busy(retryAfter: number): ServiceUnavailable {
  return new ServiceUnavailable('Too many passwords are being checked right now. Try again shortly.', {
    retryAfter,
  })
}
