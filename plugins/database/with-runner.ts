import type { DataSource, QueryRunner } from 'typeorm'

/** Runs work with a query runner of its own, which is released afterwards. */
export async function withRunner<T>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner()
  try {
    return await work(runner)
  } finally {
    await runner.release()
  }
}
