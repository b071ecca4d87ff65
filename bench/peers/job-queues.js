/**
 * The queues beside which `bench/jobs.ts` measures. Each has `add(count)`, and `drain(count, concurrency)`, which resolves
 * when that many jobs are done.
 */
export const PEERS = {
  async 'pg-boss, fetch and complete in a loop'({ postgres }) {
    const { default: PgBoss } = await import('pg-boss')
    const boss = new PgBoss({ connectionString: postgres, schema: 'bench_pgboss', max: 10 })
    await boss.start()
    await boss.createQueue('noop')
    return {
      add: (count) => boss.insert(list(count).map(({ order }) => ({ name: 'noop', data: { order } }))),
      async drain(count, concurrency) {
        // Its own worker waits half a second or more between two batches, which this loop does not.
        for (let done = 0; done < count;) {
          const jobs = await boss.fetch('noop', { batchSize: concurrency })
          await Promise.all(jobs.map(() => Promise.resolve()))
          await Promise.all(jobs.map(({ id }) => boss.complete('noop', id)))
          done += jobs.length
        }
      },
      close: () => boss.stop({ graceful: false }),
    }
  },
  async 'pg-boss, work() with batches'({ postgres }) {
    const { default: PgBoss } = await import('pg-boss')
    const boss = new PgBoss({ connectionString: postgres, schema: 'bench_pgboss', max: 10 })
    await boss.start()
    await boss.createQueue('noop-work')
    return {
      add: (count) => boss.insert(list(count).map(({ order }) => ({ name: 'noop-work', data: { order } }))),
      async drain(count, concurrency) {
        const options = { batchSize: concurrency, pollingIntervalSeconds: 0.5 }
        const { reached, add } = counter(count)
        const id = await boss.work('noop-work', options, async (jobs) => add(jobs.length))
        await reached
        await boss.offWork({ id })
      },
      close: () => boss.stop({ graceful: false }),
    }
  },
  async BullMQ({ redis }) {
    const { Queue, Worker } = await import('bullmq')
    const { hostname: host, port } = new URL(redis)
    const connection = { host, port: Number(port), db: 15 }
    const queue = new Queue('bench-noop', { connection })
    await queue.obliterate({ force: true })
    return {
      add: (count) =>
        queue.addBulk(list(count).map((data) => ({ name: 'noop', data, opts: { removeOnComplete: true } }))),
      async drain(count, concurrency) {
        const { reached, add } = counter(count)
        const worker = new Worker('bench-noop', async () => add(1), { connection, concurrency })
        await reached
        await worker.close()
      },
      async close() {
        await queue.obliterate({ force: true })
        await queue.close()
      },
    }
  },
}

/** Counts, and resolves `reached` at a number. */
function counter(goal) {
  let resolve
  let done = 0
  const reached = new Promise((settle) => (resolve = settle))
  const add = (more) => {
    done += more
    if (done >= goal) resolve()
  }
  return { reached, add }
}

function list(count) {
  return Array.from({ length: count }, (_, order) => ({ order }))
}
