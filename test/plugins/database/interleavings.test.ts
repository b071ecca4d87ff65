import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource, EntityManager } from 'typeorm'
import { gateTransactions } from '../../../plugins/database/gate/gate-transactions.ts'
import { query } from '@mortar/database'
import { SQLITE_DRIVERS } from './drivers.ts'
import { Notes, openPlain, temporaryFolder } from './notes.ts'
import { casesOf, seedFor } from '../../support/seed.ts'

type Random = (below: number) => number

/** The state that a round must leave, and the reads that it must never show. */
interface Model {
  /** Strings whose write was reported as done. */
  readonly done: Set<string>
  /** Strings that a reader outside any transaction saw. */
  readonly seen: Set<string>
  /** Increments whose transaction was committed. */
  increments: number
}

interface Round {
  readonly dataSource: DataSource
  readonly random: Random
  readonly model: Model
  readonly fresh: () => string
}

/** In CI each run has another seed. */
const ROUNDS = casesOf(500)

describe('random interleavings of transactions and plain writes', () => {
  const folder = temporaryFolder()

  it(`lose and leak nothing in ${ROUNDS} rounds on a database in memory`, () =>
    run(':memory:', seedFor('gate in memory')))

  it(`lose and leak nothing in ${ROUNDS} rounds on a database file by libsql`, () =>
    run(join(folder(), 'libsql.db'), seedFor('gate on libsql'), { driver: SQLITE_DRIVERS['libsql'] }))

  it(`lose and leak nothing in ${ROUNDS} rounds on a database file`, () =>
    run(join(folder(), 'notes.db'), seedFor('gate on a file')))

  it('lose writes on TypeORM without the gate', async () => {
    const seed = seedFor('no gate')
    const failure = await run(':memory:', seed, { gate: () => undefined }).catch(
      (error: Error) => error.message,
    )
    expect(failure).to.match(new RegExp(`^round \\d+ of seed ${seed}`))
  })
})

async function run(
  database: string,
  seed: number,
  { gate = gateTransactions, driver }: { gate?: typeof gateTransactions; driver?: object | undefined } = {},
): Promise<void> {
  const dataSource = await openPlain(database, driver)
  try {
    await dataSource.query('pragma journal_mode = wal')
    gate(dataSource)
    await dataSource.query('create table counter (n integer)')
    await dataSource.query('insert into counter values (0)')
    const random = randomFrom(seed)
    for (let round = 1; round <= ROUNDS; round++)
      await play(dataSource, random, `round ${round} of seed ${seed}`)
  } finally {
    await dataSource.destroy()
  }
}

/** Runs two to six callers together, each at its own pace. Then the database must contain the reported writes. */
async function play(dataSource: DataSource, random: Random, name: string): Promise<void> {
  const model: Model = { done: new Set(), seen: new Set(), increments: 0 }
  let last = 0
  const round = { dataSource, random, model, fresh: () => `t${last++}` }
  const callers = Array.from({ length: 2 + random(5) }, () => CALLERS[random(CALLERS.length)]!(round))
  await Promise.allSettled(callers)
  const rows: { text: string }[] = await dataSource.query('select text from notes order by text')
  const [counter] = await dataSource.query('select n from counter')
  const found = rows.map(({ text }) => text)
  expect({ found, increments: counter.n }, name).to.eql({
    found: [...model.done].toSorted(),
    increments: model.increments,
  })
  expect(
    [...model.seen].filter((text) => !model.done.has(text)),
    `${name}: seen before it was committed`,
  ).to.eql([])
  await dataSource.query('delete from notes')
  await dataSource.query('update counter set n = 0')
}

const CALLERS: readonly ((round: Round) => Promise<void>)[] = [
  plainWrite,
  plainRead,
  compiledRead,
  savesOne,
  savesSeveralAndFails,
  transaction,
  transaction,
  transactionByHand,
]

async function plainWrite({ dataSource, random, model, fresh }: Round): Promise<void> {
  await pause(random)
  const text = fresh()
  await dataSource.manager.insert(Notes, { id: text, text })
  model.done.add(text)
}

async function plainRead({ dataSource, random, model }: Round): Promise<void> {
  await pause(random)
  for (const { text } of await dataSource.query('select text from notes')) model.seen.add(text)
}

const everyNote = query(Notes)

async function compiledRead({ dataSource, random, model }: Round): Promise<void> {
  await pause(random)
  for (const { text } of await everyNote.all(dataSource)) model.seen.add(text)
}

async function savesOne({ dataSource, random, model, fresh }: Round): Promise<void> {
  await pause(random)
  const text = fresh()
  await dataSource.manager.save(Notes, { id: text, text })
  model.done.add(text)
}

async function savesSeveralAndFails({ dataSource, random, fresh }: Round): Promise<void> {
  await pause(random)
  const [first, second] = [fresh(), fresh()]
  await dataSource.manager.save(Notes, [
    { id: first, text: first },
    { id: second, text: first },
  ])
}

/** Writes, counts by reading first, perhaps nests, and perhaps rolls back. */
async function transaction({ dataSource, random, model, fresh }: Round): Promise<void> {
  await pause(random)
  const written: string[] = []
  await dataSource.transaction(async (manager) => {
    written.push(await write(manager, fresh(), random))
    await increment(manager, random)
    if (random(2)) written.push(...(await nested(manager, random, fresh)))
    if (random(3) === 0) throw new Error('rolled back')
  })
  for (const text of written) model.done.add(text)
  model.increments++
}

async function nested(manager: EntityManager, random: Random, fresh: () => string): Promise<string[]> {
  const text = fresh()
  const kept = await manager
    .transaction(async (inner) => {
      await write(inner, text, random)
      if (random(2)) throw new Error('the inner one rolled back')
      return true
    })
    .catch(() => false)
  return kept ? [text] : []
}

async function transactionByHand({ dataSource, random, model, fresh }: Round): Promise<void> {
  await pause(random)
  const runner = dataSource.createQueryRunner()
  try {
    await runner.startTransaction()
    const text = await write(runner.manager, fresh(), random)
    if (random(3) === 0) return await runner.rollbackTransaction()
    await runner.commitTransaction()
    model.done.add(text)
  } finally {
    await runner.release()
  }
}

async function write(manager: EntityManager, text: string, random: Random): Promise<string> {
  await pause(random)
  if (random(2)) await manager.insert(Notes, { id: text, text })
  else await manager.save(Notes, { id: text, text })
  await pause(random)
  return text
}

async function increment(manager: EntityManager, random: Random): Promise<void> {
  const [{ n }] = await manager.query('select n from counter')
  await pause(random)
  await manager.query('update counter set n = ?', [n + 1])
}

/** Nothing, some microtasks, or a turn of the event loop. */
async function pause(random: Random): Promise<void> {
  const length = random(6)
  if (length === 0) return
  if (length === 1) return nextTurn()
  for (let i = 0; i < length; i++) await Promise.resolve()
}

/** Repeatable pseudo-random integers (xorshift32). */
function randomFrom(seed: number): Random {
  let state = seed * 0x9e3779b9
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
