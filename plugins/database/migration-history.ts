import type { DataSource, Migration, QueryRunner } from 'typeorm'
import type { LoadedMigration } from './load-migrations.ts'
import { typeorm } from './typeorm.ts'

/** The database's table of the migrations that were run: TypeORM's own, so that its tools read it too. */
export class MigrationHistory extends typeorm.MigrationExecutor {
  readonly #runner: QueryRunner

  constructor(dataSource: DataSource, runner: QueryRunner) {
    super(dataSource, runner)
    this.#runner = runner
  }

  /** Makes the table, and TypeORM's table for views and generated columns where there are such. */
  async prepare(): Promise<void> {
    await this.createMigrationsTableIfNotExist(this.#runner)
    const builder = this.dataSource.driver.createSchemaBuilder()
    if (typeorm.InstanceChecker.isRdbmsSchemaBuilder(builder))
      await builder.createMetadataTableIfNecessary(this.#runner)
  }

  /** Names of the migrations that were run, latest first; none when there is no table yet. */
  async names(): Promise<string[]> {
    return (await this.getExecutedMigrations()).map(({ name }) => name)
  }

  add(migration: LoadedMigration): Promise<void> {
    return this.insertExecutedMigration(this.#runner, toRow(migration))
  }

  remove(migration: LoadedMigration): Promise<void> {
    return this.deleteExecutedMigration(this.#runner, toRow(migration))
  }
}

const toRow = ({ name, timestamp }: LoadedMigration): Migration =>
  new typeorm.Migration(undefined, timestamp, name)
