import type { CarriedRows } from '../database/carried.ts'
import type { Administration, JobCounts, JobEngine, JobFilter, JobState, ListedJob } from '../engine.ts'
import { countsOf, isAccepted, listed, TYPES } from './carried-job.ts'
import type { Carriers } from './carriers.ts'

/** Most jobs that BullMQ deletes together. */
const CLEANED = 1000

/** The part of the engine for those who look after it: the jobs of the table and those of BullMQ together. */
export function administration(outbox: JobEngine, rows: CarriedRows, carriers: Carriers): Administration {
  return {
    async list(filter = {}) {
      const both = (await Promise.all([outbox.list(filter), listCarried(carriers, filter)])).flat()
      return both.toSorted((a, b) => Number(a.dueAt) - Number(b.dueAt)).slice(0, filter.limit ?? 100)
    },
    async waiting(name) {
      const jobs = await carriers.of(name).queue.getJobs([...TYPES.waiting], 0, -1, true)
      return [...jobs.map(({ data }) => data.data), ...(await outbox.waiting(name))]
    },
    async retry(id) {
      const job = await carriers.find(id)
      // One that has not failed keeps the number of processes that it has lost.
      if (job === undefined || !(await job.isFailed())) return false
      await job.updateData({ ...job.data, forgiven: job.stalledCounter, due: Date.now() })
      const isRetried = await isAccepted(job.retry('failed', { resetAttemptsMade: true }))
      if (isRetried) carriers.of(job.name).idleUntil = 0
      return isRetried
    },
    async remove(id) {
      const job = await carriers.find(id)
      if (job === undefined) return outbox.remove(id)
      const state = await job.getState()
      if (state === 'active' || state === 'completed') return false
      // First, so that a row that could not be deleted does not bring the job back.
      await rows.release([id])
      await job.remove()
      return true
    },
    async counts() {
      const [own, ...carried] = await Promise.all([
        outbox.counts(),
        ...carriers.all().map(({ queue }) => countsOf(queue)),
      ])
      // A running row is about to be handed over.
      return [{ ...own, waiting: own.waiting + own.running, running: 0 }, ...carried].reduce(sum)
    },
    unknown: (names) => outbox.unknown(names),
    async prune(keep) {
      for (const { queue } of carriers.all()) await queue.clean(keep, CLEANED, 'failed')
      const there: string[] = []
      for (const { id, name } of await rows.old())
        if ((await carriers.of(name).queue.getJob(id)) === undefined) await rows.takeBack(id)
        else there.push(id)
      if (there.length > 0) await rows.markAgain(there)
    },
  }
}

function sum(one: JobCounts, other: JobCounts): JobCounts {
  return {
    waiting: one.waiting + other.waiting,
    running: one.running + other.running,
    failed: one.failed + other.failed,
    oldest: Math.max(one.oldest, other.oldest),
  }
}

async function listCarried(
  carriers: Carriers,
  { name, state, limit = 100 }: JobFilter,
): Promise<readonly ListedJob[]> {
  const states = state === undefined ? (Object.keys(TYPES) as JobState[]) : [state]
  const lists = (name === undefined ? carriers.all() : [carriers.of(name)]).flatMap(({ queue }) =>
    states.map(async (each) =>
      (await queue.getJobs([...TYPES[each]], 0, limit - 1, true)).map((job) => listed(job, each)),
    ),
  )
  return (await Promise.all(lists)).flat()
}
