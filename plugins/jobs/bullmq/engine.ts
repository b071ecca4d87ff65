import { randomUUID } from 'node:crypto'
import { carriedRows, type CarriedRows } from '../database/carried.ts'
import { databaseEngine } from '../database/engine.ts'
import { kindOf, statementsOf } from '../database/statements.ts'
import { SPREAD, type ClaimedJob, type EngineMaker, type EngineParts, type JobEngine } from '../engine.ts'
import { inRounds } from '../in-rounds.ts'
import { fault } from '../startup-codes.ts'
import { administration } from './administration.ts'
import { attemptsOf, endAttempt, isAccepted, toBullmq, type CarriedJob } from './carried-job.ts'
import { createCarriers, PEERS, type BullmqOptions, type Carriers } from './carriers.ts'

export type { BullmqOptions } from './carriers.ts'

/** Rows that are handed over together. */
const BATCH = 200
/** Milliseconds for which an empty table or queue is not asked again: a little less than the pause of the worker. */
const PAUSE = 800

/**
 * The engine for an application that outgrows its database. A job commits with the caller's transaction in the table of
 * jobs, and goes from there to BullMQ with its id, so that a second time is the same job. Its row stays until it is done,
 * so that a job that Redis has lost goes there again.
 */
export function bullmq(options: BullmqOptions): EngineMaker {
  return Object.assign((parts: EngineParts) => createEngine(options, parts), { peers: PEERS })
}

function createEngine(options: BullmqOptions, { db, names }: EngineParts): JobEngine {
  const outbox = databaseEngine(db)
  const rows = carriedRows(statementsOf(db, kindOf(db)!))
  const carriers = createCarriers(options, names)
  const held = new WeakMap<ClaimedJob, Lock>()
  const next = nextOf({ rows, carriers }, (claimed, lock) => held.set(claimed, lock))
  const release = inRounds((ids: readonly string[]) => rows.release(ids).then(() => ids))
  let relayAt = 0

  async function relay(): Promise<void> {
    relayAt = performance.now() + PAUSE
    // All names, as a claim may be for some of them.
    if (await handOver({ outbox, rows, carriers }, names())) relayAt = 0
  }

  return {
    async open() {
      await outbox.open()
      await carriers.open().catch((cause: unknown) => {
        throw fault('MORTAR_JOBS_ENGINE', 'BullMQ cannot use the Redis of bullmq().', { cause })
      })
    },
    async add(job, tx) {
      const isNew = await outbox.add(job, tx)
      relayAt = 0
      return isNew
    },
    async claim(known, limit) {
      await carriers.connected()
      if (performance.now() >= relayAt) await relay()
      return claimInTurns(carriers, next, { names: known, limit })
    },
    renew: (claimed) => extend(held.get(claimed)!, carriers.lease),
    async settle(claimed, outcome) {
      const lock = held.get(claimed)!
      const isOver = outcome.is === 'done' || outcome.is === 'failed'
      // The key of a job that another process may have taken over is not freed.
      if (isOver && performance.now() > lock.until && !(await extend(lock, carriers.lease))) return false
      // First, so that a process that dies in between leaves no row behind, and the job runs again.
      if (isOver) await release(claimed.id)
      // A handler that ignores its signal may end later.
      lock.until = 0
      return isAccepted(endAttempt(lock.job, lock.token, outcome))
    },
    ...administration(outbox, rows, carriers),
    addScheduled: (schedules) => outbox.addScheduled(schedules),
    close: () => carriers.close(),
  }
}

type Next = (name: string) => Promise<ClaimedJob | undefined>

/** Claims from each queue that is not known to be empty in turn, from another one each time. */
async function claimInTurns(
  carriers: Carriers,
  next: Next,
  { names, limit }: { readonly names: readonly string[]; readonly limit: number },
): Promise<readonly ClaimedJob[]> {
  const found: ClaimedJob[] = []
  const open = (): readonly string[] =>
    names.filter((name) => performance.now() >= carriers.of(name).idleUntil)
  for (let left = open(); found.length < limit && left.length > 0; left = open()) {
    const first = Math.floor(Math.random() * left.length)
    const turns = Array.from(
      { length: limit - found.length },
      (_, turn) => left[(first + turn) % left.length]!,
    )
    const claimed = await Promise.all(turns.map((name) => next(name)))
    found.push(...claimed.filter((job) => job !== undefined))
  }
  return found
}

interface Relay {
  readonly outbox: JobEngine
  readonly rows: CarriedRows
  readonly carriers: Carriers
}

/**
 * Hands due rows to BullMQ. The rows of a process that dies in between are handed over again when their lease ends.
 * @returns true if there may be more.
 */
async function handOver({ outbox, rows, carriers }: Relay, known: readonly string[]): Promise<boolean> {
  const due = await outbox.claim(known, BATCH)
  if (due.length === 0) return false
  const ids = due.map(({ id }) => id)
  await addToBullmq(carriers, due).catch(async (error: unknown) => {
    // So that they do not wait for the end of a lease. Those that BullMQ has are the same jobs the next time.
    await Promise.allSettled(due.map((job) => outbox.settle(job, { is: 'returned' })))
    throw error
  })
  await rows.handOver(ids)
  return due.length === BATCH
}

async function addToBullmq(carriers: Carriers, due: readonly ClaimedJob[]): Promise<void> {
  for (const name of new Set(due.map((job) => job.name))) {
    const carrier = carriers.of(name)
    const jobs = due.filter((job) => job.name === name)
    await carrier.queue.addBulk(jobs.map((job) => toBullmq(job)))
    carrier.idleUntil = 0
  }
}

/** The lock of a claimed job in Redis. */
interface Lock {
  readonly job: CarriedJob
  readonly token: string
  /** Moment until which no other process can have the job. */
  until: number
}

/** @returns false if another process has the job. */
async function extend(lock: Lock, lease: number): Promise<boolean> {
  const until = performance.now() + lease
  if ((await lock.job.extendLock(lock.token, lease)) === 1) lock.until = until
  return lock.until === until
}

type Hold = (claimed: ClaimedJob, lock: Lock) => void

/** Returns a function that claims one job of a name. */
function nextOf({ rows, carriers }: Omit<Relay, 'outbox'>, hold: Hold): Next {
  const worker = randomUUID()
  let claims = 0
  return async (name) => {
    const carrier = carriers.of(name)
    carrier.watch ??= carrier.worker.startStalledCheckTimer()
    const token = `${worker}:${++claims}`
    const until = performance.now() + carriers.lease
    const job = await carrier.worker.getNextJob(token, { block: false })
    if (job === undefined) {
      carrier.idleUntil = performance.now() + PAUSE
      return undefined
    }
    const { data, requestId, trace, paused = 0 } = job.data
    if ((data as string | undefined) === undefined) {
      // Redis has lost the job, except for its place in the queue. Its row brings it back.
      job.opts.removeOnComplete = true
      await job.moveToCompleted(null, token, false)
      await rows.takeBack(job.id!)
      return undefined
    }
    if (job.stalledCounter > paused) {
      // Jobs of a process that died come back one by one, so that one that ends its process is alone at last.
      await job.updateData({ ...job.data, paused: job.stalledCounter })
      await job.moveToDelayed(Date.now() + Math.random() * Math.min(SPREAD, carriers.lease), token)
      return undefined
    }
    const claimed = { id: job.id!, name, data, attempt: attemptsOf(job) + 1, requestId, trace }
    hold(claimed, { job, token, until })
    return claimed
  }
}
