/**
 * Measures `@mortar/jobs`: the time to add a job as a multiple of one insert, jobs per second of its engines beside pg-boss
 * and BullMQ in turns, and the CPU of an idle process with jobs above that of one without. The handlers do nothing, so this is the cost of
 * the queue. Needs `npm ci --prefix bench`, a PostgreSQL (BENCH_POSTGRES_URL), and for BullMQ a Redis (BENCH_REDIS_URL), of
 * which it empties database 15.
 *
 *     node --import tsx --conditions=source bench/jobs.ts [--jobs 3000] [--rounds 3] [--idle 30]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createApp } from 'mortar'
import { createDataSource, database, fromUrl } from '@mortar/database'
import { jobs, type JobsOptions } from '@mortar/jobs'
import { bullmq } from '@mortar/jobs/bullmq'
import { pgBoss } from '@mortar/jobs/pg-boss'
import * as schema from '@mortar/jobs/schema'
import { PEERS } from './peers/job-queues.js'
import { pairedRatios, spreadOf } from './statistics.ts'
import noop, { done } from './work/jobs/noop.ts'

type Own = Partial<JobsOptions>

const CONCURRENCY = 16
const ADDS = 200

/** A queue under measurement. */
interface Queue {
  add(count: number): Promise<unknown>
  drain(count: number, concurrency: number): Promise<unknown>
  close(): Promise<unknown>
}

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
    idle: { type: 'string', default: '30' },
  },
})
const postgres = process.env['BENCH_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test'
const redis = process.env['BENCH_REDIS_URL'] ?? 'redis://127.0.0.1:6379'
const throughBullmq = bullmq({ connection: { url: `${redis}/15` }, prefix: 'bench' })
const folder = mkdtempSync(join(tmpdir(), 'mortar-bench-jobs-'))
const urls = { PostgreSQL: postgres, SQLite: `sqlite:${join(folder, 'jobs.db')}` }

for (const url of Object.values(urls)) await prepare(url)
for (const [name, url] of Object.entries(urls)) await compareAdds(name, url)
await compareThroughput()
for (const [name, url] of Object.entries(urls)) await compareIdle(name, url)
await drop()
rmSync(folder, { recursive: true })
process.exit()

async function prepare(url: string): Promise<void> {
  const db = await createDataSource({ ...fromUrl(url), entities: schema }).initialize()
  await db.synchronize()
  await db.getRepository(schema.MortarJobs).clear()
  await db.destroy()
}

async function drop(): Promise<void> {
  const db = await createDataSource(fromUrl(postgres)).initialize()
  await db.query('drop table if exists mortar_jobs')
  await db.query('drop schema if exists bench_pgboss cascade')
  await db.destroy()
}

function appOn(url: string, own: Own) {
  const options = { directory: new URL('./work/jobs', import.meta.url), concurrency: CONCURRENCY, ...own }
  return createApp({ environment: 'production', logger: false, signals: false })
    .use(database({ ...fromUrl(url), entities: schema }))
    .use(jobs(options))
}

/** Rows of the same size by plain inserts, by TypeORM's insert of an entity, and by `add`, alone and in one transaction. */
async function compareAdds(name: string, url: string): Promise<void> {
  const app = await appOn(url, { run: false }).ready()
  const { db, jobs: service } = app.services
  const rows = db.getRepository(schema.MortarJobs)
  const row = (index: number) => ({
    id: crypto.randomUUID(),
    name: 'insert',
    job_key: null,
    data: JSON.stringify({ order: index }),
    state: 'waiting' as const,
    run_at: Date.now(),
    attempt: 0,
    added_at: Date.now(),
  })
  const timeOf = async (work: (index: number) => Promise<unknown>): Promise<number> => {
    const begun = performance.now()
    for (let index = 0; index < ADDS; index++) await work(index)
    return performance.now() - begun
  }
  const columns = Object.keys(row(0))
  const marks = columns.map((_, index) => (name === 'PostgreSQL' ? `$${index + 1}` : '?')).join(', ')
  const statement = `insert into mortar_jobs (${columns.join(', ')}) values (${marks})`
  for (const isAlone of [true, false]) {
    const ratios: Record<'statement' | 'repository', number[]> = { statement: [], repository: [] }
    for (let round = 0; round < 12; round++) {
      const inside = (work: (index: number, tx: typeof db.manager) => Promise<unknown>): Promise<number> =>
        isAlone
          ? timeOf((index) => work(index, db.manager))
          : db.transaction((tx) => timeOf((index) => work(index, tx)))
      const plain = await inside((index, tx) => tx.query(statement, Object.values(row(index))))
      const add = await inside((order, tx) => service.add(noop, { order }, isAlone ? {} : { tx }))
      const entity = await inside((index, tx) => tx.insert(schema.MortarJobs, row(index)))
      // The first rounds compile.
      if (round < 2) continue
      ratios.statement.push(add / plain)
      ratios.repository.push(add / entity)
    }
    const how = isAlone ? 'each in a transaction of its own' : 'all in one transaction'
    console.log(
      `${name}, ${how}: add is ${spreadOf(ratios.statement).median.toFixed(2)} × a plain insert statement, ${spreadOf(ratios.repository).median.toFixed(2)} × an insert by the repository`,
    )
    await rows.clear()
  }
  await app.close()
}

async function mortarOn(url: string, options: Own = {}): Promise<Queue> {
  const adder = await appOn(url, { ...options, run: false }).ready()
  return {
    add: (count) =>
      adder.services.db.transaction(async (tx) => {
        for (let order = 0; order < count; order++) await adder.services.jobs.add(noop, { order }, { tx })
      }),
    async drain(count) {
      const goal = done.count + count
      const worker = await appOn(url, { ...options, run: true }).ready()
      while (done.count < goal) await wait(5)
      await worker.close()
    },
    close: () => adder.close(),
  }
}

async function compareThroughput(): Promise<void> {
  const count = Number(values.jobs)
  const makers: Record<string, () => Promise<Queue>> = {
    'Mortar on PostgreSQL': () => mortarOn(urls.PostgreSQL),
    'Mortar on SQLite': () => mortarOn(urls.SQLite),
    'Mortar with bullmq()': () => mortarOn(urls.PostgreSQL, { engine: throughBullmq }),
    'Mortar with pgBoss()': () => mortarOn(urls.PostgreSQL, { engine: pgBoss({ schema: 'bench_pgboss' }) }),
    ...Object.fromEntries(
      Object.entries(PEERS).map(([name, make]) => [name, () => make({ postgres, redis })]),
    ),
  }
  const rates = new Map<string, number[]>()
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [name, make] of Object.entries(makers)) {
      const queue = await make()
      // Half a second for each batch of its worker.
      const size = name.includes('work()') ? Math.min(count, 10 * CONCURRENCY) : count
      await queue.add(size)
      const begun = performance.now()
      await queue.drain(size, CONCURRENCY)
      const rate = size / ((performance.now() - begun) / 1000)
      rates.set(name, [...(rates.get(name) ?? []), rate])
      await queue.close()
    }
  const own = rates.get('Mortar on PostgreSQL')!
  for (const [name, each] of rates)
    console.log(
      `${name}: ${Math.round(spreadOf(each).median)} jobs/s; Mortar on PostgreSQL ÷ this: ${pairedRatios(own, each).median.toFixed(2)}`,
    )
}

async function compareIdle(name: string, url: string): Promise<void> {
  const milliseconds = Number(values.idle) * 1000
  const cpuOf = async (kind: 'with' | 'without'): Promise<number> => {
    const child = fork(
      new URL('./work/jobs-process.ts', import.meta.url),
      [url, kind, String(milliseconds)],
      {
        execArgv: ['--import', 'tsx', '--conditions=source'],
      },
    )
    const [cpu] = (await once(child, 'message')) as [number]
    return cpu
  }
  const [having, lacking] = await Promise.all([cpuOf('with'), cpuOf('without')])
  const percent = (cpu: number): string => `${((100 * cpu) / milliseconds).toFixed(2)} %`
  console.log(
    `${name}, idle: ${percent(having)} of a core with jobs, ${percent(lacking)} without, ${percent(having - lacking)} more`,
  )
}
