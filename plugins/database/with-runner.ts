import type { DataSource, QueryRunner, ReplicationMode } from 'typeorm'

/** Runs work with a query runner of its own, which is released afterwards. @param mode the server of a replication. */
export async function withRunner<T>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<T>,
  mode?: ReplicationMode,
): Promise<T> {
  const runner = dataSource.createQueryRunner(mode)
  try {
    return await work(runner)
  } finally {
    await runner.release()
  }
}
