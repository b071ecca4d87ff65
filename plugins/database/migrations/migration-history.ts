import type { DataSource, Migration, QueryRunner } from 'typeorm'
import type { LoadedMigration } from './load-migrations.ts'
import { typeorm } from '../drivers/typeorm.ts'

/** The database table of applied migrations. It is TypeORM's own table, so TypeORM's tools can read it. */
export class MigrationHistory extends typeorm.MigrationExecutor {
  readonly #runner: QueryRunner

  constructor(dataSource: DataSource, runner: QueryRunner) {
    super(dataSource, runner)
    this.#runner = runner
  }

  /** Creates the table, and TypeORM's metadata table if the schema has views or generated columns. */
  async prepare(): Promise<void> {
    await this.createMigrationsTableIfNotExist(this.#runner)
    const builder = this.dataSource.driver.createSchemaBuilder()
    if (typeorm.InstanceChecker.isRdbmsSchemaBuilder(builder))
      await builder.createMetadataTableIfNecessary(this.#runner)
  }

  /** Names of the applied migrations, newest first; empty if the table does not exist yet. */
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
