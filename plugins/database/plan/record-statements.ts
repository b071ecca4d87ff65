import type { DataSource, QueryRunner } from 'typeorm'
import type { LoadedMigration } from '../migrations/load-migrations.ts'
import { keepsTables } from '../lock-timeout.ts'
import { withoutComments } from '../sql-text.ts'
import type { RecordedStatement } from './find-warnings.ts'

/** The statements that a migration would run; `incomplete` is the reason why the rest is unknown. */
export interface RecordedMigration {
  readonly statements: readonly RecordedStatement[]
  readonly incomplete?: string
}

interface Recording {
  inBatch: boolean
}

const recordings = new WeakMap<QueryRunner, Recording>()

/** Returns the recording of a runner that runs no statement; undefined for any other runner. */
export function recordingOf(runner: QueryRunner | undefined): Recording | undefined {
  return runner && recordings.get(runner)
}

const READ = /^(SELECT|SHOW|DESCRIBE|PRAGMA (\w+\.)?\w*(info|list|keys|version|check)\b(?! ?=))/i

/** Reads in a transaction that the server lets change nothing. */
export async function readOnly<T>(
  dataSource: DataSource,
  reader: QueryRunner,
  work: () => Promise<T>,
): Promise<T> {
  if (dataSource.options.type !== 'postgres' && !keepsTables(dataSource)) return work()
  await reader.query('START TRANSACTION READ ONLY')
  try {
    return await work()
  } finally {
    await reader.query('ROLLBACK')
  }
}

/** Calls `up` with a runner that keeps its statements. Only reads run, and see the tables as they are. */
export async function recordStatements(
  dataSource: DataSource,
  reader: QueryRunner,
  { instance }: LoadedMigration,
): Promise<RecordedMigration> {
  const statements: RecordedStatement[] = []
  const recording = { inBatch: false }
  const runner = dataSource.createQueryRunner()
  recordings.set(runner, recording)
  const query = async (sql: string, parameters?: unknown[], structured?: boolean): Promise<unknown> => {
    if (READ.test(withoutComments(sql)))
      try {
        return await readOnly(dataSource, reader, () => reader.query(sql, parameters, structured as true))
      } catch {
        // A table that an earlier statement makes, or a SELECT that changes something.
      }
    if (!/^(START|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i.test(sql))
      statements.push({ sql, parameters: parameters?.length ?? 0, inBatch: recording.inBatch })
    return structured === true ? { raw: [], records: [], affected: 0 } : []
  }
  const refuse = (): Promise<never> => Promise.reject(new Error('it uses the connection of the driver'))
  Object.assign(runner, { query, connect: refuse, stream: refuse, release: async () => undefined })
  const own = { manager: { value: runner.manager }, createQueryRunner: { value: () => runner } }
  Object.assign(runner, { dataSource: Object.create(dataSource, own) as DataSource })
  try {
    await instance.up(runner)
    return { statements }
  } catch (error) {
    return { statements, incomplete: error instanceof Error ? error.message : String(error) }
  }
}
