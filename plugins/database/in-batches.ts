import { setTimeout as wait } from 'node:timers/promises'
import type { DataSource, EntityManager } from 'typeorm'
import type { Duration, StartupError } from 'mortar'
import { seconds } from 'mortar/kit'
import { escapePath } from './escape-path.ts'
import { recordingOf } from './plan/record-statements.ts'
import { fault } from './startup-codes.ts'

/** The table of unfinished work, beside the table of migrations. */
export const PROGRESS = 'migration_batches'

/** Rows to go through, in the order of a column. */
export interface BatchOptions {
  /** The work, under which its progress is stored; the name of the migration, for example. */
  readonly name: string
  /** The table, with its schema if it has another one than the connection. */
  readonly table: string
  /** A column with unique numbers or strings and an index, such as the primary key. */
  readonly key: string
  /** Rows of one batch, by default 1000. */
  readonly size?: number
  /** Pause between two batches, for the statements of the application; seconds or `'100ms'`, by default 100 ms. */
  readonly pause?: Duration
}

/** Changes the rows of some keys with the manager of their transaction. */
export type BatchWork = (manager: EntityManager, keys: readonly (number | string)[]) => Promise<unknown>

/**
 * Changes the rows of a large table in batches, each in a transaction of its own that also stores how far it came. A
 * process that ends in the middle, and runs it again, continues after the last complete batch.
 * @returns the number of rows.
 * @throws StartupError inside a transaction.
 */
export async function inBatches(
  db: DataSource | EntityManager,
  options: BatchOptions,
  work: BatchWork,
): Promise<number> {
  const manager = 'manager' in db ? db.manager : db
  if (manager.queryRunner?.isTransactionActive === true) throw insideTransaction(options.name)
  const recording = recordingOf(manager.queryRunner)
  const statements = statementsFor(manager, options)
  await manager.query(statements.prepare)
  if (recording) recording.inBatch = true
  let rows = 0
  for (;;) {
    const done = await manager.transaction((own) => runBatch(own, statements, options, work))
    rows += done
    // A plan shows one batch.
    if (done < sizeOf(options) || recording) break
    await wait(seconds(options.pause ?? 0.1) * 1000)
  }
  if (recording) recording.inBatch = false
  return rows
}

type Statements = ReturnType<typeof statementsFor>

async function runBatch(
  manager: EntityManager,
  statements: Statements,
  options: BatchOptions,
  work: BatchWork,
): Promise<number> {
  const { name, key } = options
  const [stored] = await manager.query<{ last_key: string }[]>(statements.find, [name])
  const after = stored && [JSON.parse(stored.last_key) as unknown]
  const rows = await manager.query<{ batch_key: unknown }[]>(
    after ? statements.next : statements.first,
    after,
  )
  const keys = rows.map(({ batch_key: value }) => {
    if (typeof value === 'number' || typeof value === 'string') return value
    throw new TypeError(`inBatches(): the column ${key} has other values than numbers and strings.`)
  })
  if (keys.length > 0) await work(manager, keys)
  if (keys.length < sizeOf(options)) await manager.query(statements.forget, [name])
  else await manager.query(stored ? statements.move : statements.begin, [JSON.stringify(keys.at(-1)), name])
  return keys.length
}

function statementsFor({ dataSource }: EntityManager, { table, key, size = SIZE }: BatchOptions) {
  const { driver, options } = dataSource
  const { schema } = options as { readonly schema?: string }
  const place = (name: string): string =>
    escapePath(dataSource, schema === undefined || name.includes('.') ? name : `${schema}.${name}`)
  const [first, second] = [0, 1].map((at) => driver.createParameter('value', at))
  const [progress, column] = [place(PROGRESS), driver.escape(key)]
  const select = (where: string): string =>
    `SELECT ${column} AS batch_key FROM ${place(table)}${where} ORDER BY ${column} LIMIT ${size}`
  const lock = options.type === 'better-sqlite3' ? '' : ' FOR UPDATE'
  return {
    prepare: `CREATE TABLE IF NOT EXISTS ${progress} (name varchar(191) PRIMARY KEY, last_key varchar(2000) NOT NULL)`,
    find: `SELECT last_key FROM ${progress} WHERE name = ${first}${lock}`,
    first: select(''),
    next: select(` WHERE ${column} > ${first}`),
    begin: `INSERT INTO ${progress} (last_key, name) VALUES (${first}, ${second})`,
    move: `UPDATE ${progress} SET last_key = ${first} WHERE name = ${second}`,
    forget: `DELETE FROM ${progress} WHERE name = ${first}`,
  }
}

const SIZE = 1000

const sizeOf = ({ size = SIZE }: BatchOptions): number => size

function insideTransaction(name: string): StartupError {
  return fault(
    'MORTAR_MIGRATION_BATCHES',
    `inBatches() of '${name}' runs inside a transaction, which would keep all locks.`,
    { remedy: 'Add readonly transaction = false to the migration, or call it outside of transaction().' },
  )
}
