/**
 * Measures the cost of the transaction gate for a caller who is alone: the same work on plain TypeORM and behind the
 * gate, in turns, in one run. Prints the CPU time behind the gate as a multiple of the plain one. The aim is 3 % of a
 * request to a database, which takes some 270 µs; reads with `query()` do not pass the gate.
 *
 *     node --import tsx --conditions=source bench/gate.ts
 */
import { DataSource, EntitySchema } from 'typeorm'
import { gateTransactions } from '../plugins/database/gate/gate-transactions.ts'

interface Row {
  id: number
  text: string
}

const Rows = new EntitySchema<Row>({
  name: 'rows',
  columns: { id: { type: Number, primary: true }, text: { type: String } },
})

type Work = (dataSource: DataSource, id: number) => Promise<unknown>

const WORK: Record<string, Work> = {
  insert: (source, id) => source.manager.insert(Rows, { id, text: 'text' }),
  'find by id': (source, id) => source.manager.findOneBy(Rows, { id }),
  save: (source, id) => source.manager.save(Rows, { id: -1 - id, text: 'text' }),
  'transaction of two': (source, id) =>
    source.transaction(async (manager) => {
      await manager.insert(Rows, { id: id + 1e8, text: 'text' })
      await manager.update(Rows, { id }, { text: 'changed' })
    }),
}

const ROUNDS = 40
const WARM_UP = 8
/** Long enough for the resolution of CPU times, some milliseconds. */
const PER_ROUND = 1500

const plain = await open()
const gated = await open()
for (const findSelfWaits of [false, true]) {
  gateTransactions(gated, { findSelfWaits })
  console.log(
    findSelfWaits ? '\nas in development, on Node 20 and 22 plain TypeORM slows too' : 'as in production',
  )
  for (const [name, work] of Object.entries(WORK)) {
    console.log(name.padEnd(20), await compare(work))
    await Promise.all([plain, gated].map((source) => source.manager.clear(Rows)))
  }
}
await Promise.all([plain.destroy(), gated.destroy()])

function open(): Promise<DataSource> {
  return new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    entities: [Rows],
    synchronize: true,
  }).initialize()
}

/** The median and the middle half of many short interleaved rounds, so that other load affects both sides alike. */
async function compare(work: Work): Promise<string> {
  const times: [number, number][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 ? plain : gated
    const second = first === plain ? gated : plain
    const [a, b] = [await time(work, first, round), await time(work, second, round)]
    if (round >= WARM_UP) times.push(first === plain ? [a, b] : [b, a])
  }
  const micro = (index: 0 | 1) => median(times.map((pair) => pair[index])).toFixed(1)
  const ratios = times.map(([alone, behind]) => behind / alone)
  const [low, ratio, high] = [0.25, 0.5, 0.75].map((part) => quantile(ratios, part).toFixed(3))
  return `plain ${micro(0)} µs, gated ${micro(1)} µs, ratio ${ratio} [${low}–${high}]`
}

/** CPU time of the process: a busy machine stretches the time on the clock. */
async function time(work: Work, dataSource: DataSource, round: number): Promise<number> {
  const start = process.cpuUsage()
  for (let i = 0; i < PER_ROUND; i++) await work(dataSource, round * PER_ROUND + i)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / PER_ROUND
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!
}
