import { tracingChannel } from 'node:diagnostics_channel'
import type { Cradle, Logger } from 'mortar'
import { describeError, isOutage, JOB_CHANNEL, type ObservedJob } from 'mortar/kit'
import { readData } from './data.ts'
import { RENEWAL, type ClaimedJob, type JobEngine, type Outcome } from './engine.ts'
import { errorLine } from './error-line.ts'
import type { KnownJob } from './registry.ts'

/** Longest delay between two attempts, in milliseconds. */
const LONGEST_BACKOFF = 3_600_000
/** Node ends a longer timer immediately: 24.8 days. */
const LONGEST_TIMER = 2 ** 31 - 1

const channel = tracingChannel<object, ObservedJob>(JOB_CHANNEL)

/** Dependencies of attempts. */
export interface Attempts {
  readonly engine: JobEngine
  readonly services: Cradle
  readonly logger: Logger
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal
}

/** The result of an attempt. */
export interface Attempt {
  readonly name: string
  /** Undefined for an attempt that has done its work. */
  readonly error: unknown
  readonly outcome: Outcome
}

/**
 * Runs one attempt of a claimed job, renews its lease meanwhile, and stores the result. Never rejects because of the job
 * itself. @throws the engine's error if the result could not be stored; the lease then ends, and the job is repeated.
 */
export async function runJob(claimed: ClaimedJob, job: KnownJob, parts: Attempts): Promise<Attempt> {
  const { engine, services } = parts
  const { id, name, attempt, requestId, trace } = claimed
  const ids = { job: name, jobId: id }
  const logger = parts.logger.child({ ...ids, attempt, ...(requestId !== undefined && { requestId }) })
  const observed: ObservedJob = { id, name, attempt, trace, services }
  const begun = performance.now()
  const { error } = await attemptOf(claimed, job, { ...parts, logger, observed })
  const log = logOf(observed, logger)
  const outcome = outcomeOf(error, claimed, job, parts.stopping)
  const isMine = await engine.settle(claimed, outcome)
  if (!isMine) log.warn(LOST)
  const fields = { outcome: outcome.is, ms: Math.round(performance.now() - begun) }
  if (outcome.is === 'done') log.debug(fields, 'Job done')
  else if (outcome.is === 'returned' && outcome.after !== undefined) log.debug(fields, 'Job postponed')
  else if (outcome.is === 'returned') log.info(fields, 'The process stops; another one runs the job')
  else {
    const level = outcome.is === 'failed' ? 'error' : 'warn'
    const message = TEXTS[outcome.is]
    if (isOutage(error))
      services.outages.log({ part: `job ${name}`, error, level, message, fields: { ...ids, ...fields } })
    else log[level]({ ...fields, err: describeError(error) }, message)
  }
  return { name, error, outcome }
}

const LOST = 'The lease of the job has ended before its attempt, so another process has it too'
const TEXTS = { failed: 'Job failed for good', repeated: 'Job failed and will be repeated' } as const

/** Adds the fields that a subscriber of the channel has set. */
function logOf({ logFields }: ObservedJob, logger: Logger): Logger {
  return logFields === undefined ? logger : logger.child({ ...logFields })
}

/** @returns the error of the attempt, or undefined, in an object: the promise would call the `then` of the error. */
async function attemptOf(
  claimed: ClaimedJob,
  job: KnownJob,
  { engine, services, logger, stopping, observed }: Attempts & { readonly observed: ObservedJob },
): Promise<{ readonly error: unknown }> {
  if (claimed.attempt > job.attempts) return { error: new DeadWorker(claimed.attempt - 1) }
  const ending = new AbortController()
  // `AbortSignal.any` would keep 70 bytes of each job for as long as the process lives (Node 20).
  const both = new AbortController()
  const { signal } = both
  const stop = (): void => both.abort(stopping.reason)
  const end = (reason: string): void => {
    ending.abort(new Error(reason))
    both.abort(ending.signal.reason)
  }
  stopping.addEventListener('abort', stop)
  const renewal = setInterval(() => void renew(), RENEWAL)
  const timer = setTimeout(
    () => end(`The job took longer than ${job.timeout} ms.`),
    Math.min(job.timeout, LONGEST_TIMER),
  )
  async function renew(): Promise<void> {
    const isMine = await engine.renew(claimed).catch(() => true)
    if (!isMine) end(LOST)
  }
  try {
    const data = await readData(job, claimed.data)
    signal.throwIfAborted()
    const { id, attempt } = claimed
    let postponed: unknown
    const run = async (): Promise<unknown> => {
      try {
        return await job.run({ id, data, attempt, services, log: logOf(observed, logger), signal })
      } catch (error) {
        // Not a failure for the subscribers of the channel.
        if (readError(error).after === undefined) throw error
        postponed = error
      }
    }
    const work = (): Promise<void> => untilAborted(ending.signal, run)
    await channel.tracePromise(() => (observed.around ? observed.around(work) : work()), observed)
    return { error: postponed }
  } catch (error) {
    return { error: error ?? new Error('The job has thrown nothing.') }
  } finally {
    clearInterval(renewal)
    clearTimeout(timer)
    stopping.removeEventListener('abort', stop)
  }
}

/** Does not wait for a handler that ignores its signal, which is of this attempt alone. */
async function untilAborted(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  await Promise.race([work(), aborted])
}

/** A job that ended its process each time, for example by using all memory, is not run for ever. */
class DeadWorker extends Error {
  override readonly name = 'DeadWorker'
  readonly permanent = true

  constructor(attempts: number) {
    super(`The process of each of ${attempts} attempts has ended, or has lost its lease.`)
  }
}

/** Reads the decisions of an error about its job: `after` is the milliseconds after which work wants to run again. */
function readError(error: unknown) {
  try {
    const { postponedFor, permanent } = (error ?? {}) as Readonly<Record<string, unknown>>
    const after = Number.isFinite(postponedFor) ? Number(postponedFor) : undefined
    return { after, isPermanent: permanent === true, line: errorLine(error) }
  } catch {
    // A member has thrown.
    return { isPermanent: false, line: 'An error that cannot be read was thrown.' }
  }
}

function outcomeOf(error: unknown, { attempt }: ClaimedJob, job: KnownJob, stopping: AbortSignal): Outcome {
  if (error === undefined) return { is: 'done' }
  if (stopping.aborted) return { is: 'returned' }
  const { after, isPermanent, line } = readError(error)
  if (after !== undefined) return { is: 'returned', after }
  return isPermanent || attempt >= job.attempts
    ? { is: 'failed', error: line }
    : {
        is: 'repeated',
        after: Math.min(job.longestBackoff ?? LONGEST_BACKOFF, job.backoff * 2 ** (attempt - 1)),
        error: line,
      }
}
