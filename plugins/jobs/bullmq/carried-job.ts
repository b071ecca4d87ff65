import type { Job, JobsOptions, JobType, Queue } from 'bullmq'
import { ignore } from 'mortar/kit'
import {
  LEASE,
  type ClaimedJob,
  type JobCounts,
  type JobState,
  type ListedJob,
  type Outcome,
} from '../engine.ts'

/** The data of a job in BullMQ. */
export interface Carried {
  /** JSON. */
  readonly data: string
  readonly requestId?: string | undefined
  readonly trace?: string | undefined
  /** Number of processes that died with the job before it was retried by hand. */
  readonly forgiven?: number
  /** Number of processes that died with the job, after each of which it has paused. */
  readonly paused?: number
  /** Moment of the next attempt, if there was one before. BullMQ forgets its delay when the moment has come. */
  readonly due?: number
}

export type CarriedJob = Job<Carried>

/** An attempt that has failed, for BullMQ. */
export interface Ended extends Error {
  /** Milliseconds until the next one; -1 for none. */
  readonly after: number
}

/** BullMQ's states of ours. */
export const TYPES = {
  waiting: ['wait', 'delayed', 'prioritized'],
  running: ['active'],
  failed: ['failed'],
} as const satisfies Record<JobState, readonly JobType[]>

/** Seconds for which BullMQ knows a job that is done, so that its row can be handed over a second time after a crash. */
const REMEMBERED = 120
/** Number of attempts of a job, and of processes that it may lose: the runner counts attempts. */
export const ALWAYS = 1_000_000_000

export function toBullmq({ id, name, data, requestId, trace }: ClaimedJob): {
  readonly name: string
  readonly data: Carried
  readonly opts: JobsOptions
} {
  return {
    name,
    data: { data, requestId, trace },
    opts: {
      jobId: id,
      attempts: ALWAYS,
      backoff: { type: 'mortar' },
      stackTraceLimit: 0,
      removeOnComplete: { age: REMEMBERED },
    },
  }
}

/** The attempts that have ended, or whose process has. */
export function attemptsOf({ attemptsMade, stalledCounter, data }: CarriedJob): number {
  return attemptsMade + stalledCounter - (data.forgiven ?? 0)
}

/** Ends an attempt. @throws BullMQ's error if the lock is that of another process. */
export async function endAttempt(job: CarriedJob, token: string, outcome: Outcome): Promise<void> {
  if (outcome.is === 'done') return void (await job.moveToCompleted(null, token, false))
  if (outcome.is === 'failed') return endFailed(job, token, { after: -1, error: outcome.error })
  const after = Math.floor(outcome.after ?? 0)
  const due = Date.now() + after
  if (outcome.is === 'repeated')
    await endFailed(job, token, { after: Math.max(1, after), error: outcome.error })
  else await (outcome.after === undefined ? job.moveToWait(token) : job.moveToDelayed(due, token))
  // For those who look at the job alone. It may be gone.
  await job.updateData({ ...job.data, due }).catch(ignore)
}

async function endFailed(
  job: CarriedJob,
  token: string,
  { after, error }: { readonly after: number; readonly error: string },
): Promise<void> {
  await job.moveToFailed(Object.assign(new Error(error), { after }), token, false)
}

/** @returns false if BullMQ refuses it: its own errors have a negative number, those of the network do not. */
export async function isAccepted(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (typeof code === 'number' && code <= 0) return false
    throw error
  }
}

export function listed(job: CarriedJob, state: JobState): ListedJob {
  const { processedOn = job.timestamp, finishedOn = processedOn } = job
  const dueAt = { waiting: dueOf(job), running: processedOn + LEASE, failed: finishedOn }[state]
  return {
    id: job.id!,
    name: job.name,
    state,
    attempt: attemptsOf(job) + (state === 'running' ? 1 : 0),
    dueAt: new Date(dueAt),
    addedAt: new Date(job.timestamp),
    error: job.failedReason,
  }
}

function dueOf({ timestamp, processedOn = timestamp, delay, data: { due = 0 } }: CarriedJob): number {
  return Math.max(due, processedOn + delay)
}

export async function countsOf(queue: Queue<Carried>): Promise<JobCounts> {
  const [counts, [oldest]] = await Promise.all([
    queue.getJobCounts(...Object.values(TYPES).flat()),
    queue.getJobs(['wait'], 0, 0, true),
  ])
  const sumOf = (state: JobState): number => TYPES[state].reduce((sum, type) => sum + (counts[type] ?? 0), 0)
  return {
    waiting: sumOf('waiting'),
    running: sumOf('running'),
    failed: sumOf('failed'),
    oldest: oldest === undefined ? 0 : Math.max(0, (Date.now() - dueOf(oldest)) / 1000),
  }
}
