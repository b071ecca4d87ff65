/*
 * argon2 computes on libuv's threads, which files and DNS share. Without a bound a flood of logins makes every file
 * read of the process wait behind it, so a few hashes run at once, some more wait, and the rest are turned away.
 * Held by test/plugins/auth/passwords/hash-pool.test.ts.
 */
import { availableParallelism } from 'node:os'
import { ServiceUnavailable, systemClock, threadPoolSize, type Clock } from '../../../src/index.ts'

/** Threads of libuv's pool that hashing leaves to files, DNS and compression. */
const SPARE_THREADS = 2
/** Waiting hashes per running one; at 35 ms a hash the last in the queue waits about 2 s. */
const QUEUE_PER_PLACE = 64
const FIRST_GUESS = 35

/** Bounds of the work on password hashes. */
export interface HashPoolOptions {
  /** Size of libuv's thread pool, by default what `UV_THREADPOOL_SIZE` makes it. */
  readonly threads?: number
  /** Hashes computed at once; by default the cores, and at most `threads` less two. */
  readonly concurrency?: number
  /** Hashes that may wait; by default 64 for each computed at once. */
  readonly queue?: number
  readonly clock?: Clock
}

/** Runs tasks, a few at a time, first come first served. */
export interface HashPool {
  /**
   * Runs `task` when a place is free, and gives the place back when the task itself has ended, whatever its caller does.
   * @throws ServiceUnavailable with `Retry-After` when the queue is full.
   */
  run<T>(task: () => Promise<T>): Promise<T>
  /**
   * For callers with work to do before their hash, so that a flood is turned away for the price of a look.
   * @throws ServiceUnavailable with `Retry-After` when the queue is full.
   */
  refuseWhenFull(): void
  readonly running: number
  readonly waiting: number
}

/** Makes a pool. */
export function createHashPool(options: HashPoolOptions = {}): HashPool {
  const { threads = threadPoolSize(), clock = systemClock } = options
  const concurrency =
    options.concurrency ?? Math.max(1, Math.min(availableParallelism(), threads - SPARE_THREADS))
  const capacity = options.queue ?? QUEUE_PER_PLACE * concurrency
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

  /** The place goes straight to the next in the queue, so nobody who comes in between can take it. */
  function release(): void {
    const next = queue.shift()
    if (next) next()
    else running -= 1
  }

  return {
    run,
    refuseWhenFull,
    get running() {
      return running
    },
    get waiting() {
      return queue.length
    },
  }
}

function busy(retryAfter: number): ServiceUnavailable {
  return new ServiceUnavailable('Too many passwords are being checked right now. Try again shortly.', {
    retryAfter,
  })
}
