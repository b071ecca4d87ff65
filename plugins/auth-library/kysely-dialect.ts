import type * as Kysely from 'kysely'
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import type { DataSource, QueryRunner } from 'typeorm'
import { loadPeer } from 'mortar/kit'

const kysely = loadPeer<typeof Kysely>('kysely', {
  of: 'throughDataSource()',
  peers: { from: import.meta.url, packages: ['kysely'] },
})

const KINDS = {
  sqlite: {
    Adapter: kysely.SqliteAdapter,
    Introspector: kysely.SqliteIntrospector,
    Compiler: kysely.SqliteQueryCompiler,
  },
  postgres: {
    Adapter: kysely.PostgresAdapter,
    Introspector: kysely.PostgresIntrospector,
    Compiler: kysely.PostgresQueryCompiler,
  },
  mysql: {
    Adapter: kysely.MysqlAdapter,
    Introspector: kysely.MysqlIntrospector,
    Compiler: kysely.MysqlQueryCompiler,
  },
}

/**
 * The database of a library that speaks Kysely: the application's own DataSource. Its statements wait for transactions
 * under way like all others, which those on a connection or native handle of its own would not.
 */
export function throughDataSource(db: DataSource): { dialect: Dialect; type: keyof typeof KINDS } {
  const type = kindOf(db)
  const { Adapter, Introspector, Compiler } = KINDS[type]
  return {
    type,
    dialect: {
      createAdapter: () => new Adapter(),
      createDriver: () => new DataSourceDriver(db),
      createIntrospector: (database) => new Introspector(database),
      createQueryCompiler: () => new Compiler(),
    },
  }
}

function kindOf({ options }: DataSource): keyof typeof KINDS {
  if (options.type === 'postgres') return 'postgres'
  return options.type === 'mysql' || options.type === 'mariadb' ? 'mysql' : 'sqlite'
}

class DataSourceDriver implements Driver {
  private readonly db: DataSource

  constructor(db: DataSource) {
    this.db = db
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<RunnerConnection> {
    return new RunnerConnection(this.db.createQueryRunner())
  }

  beginTransaction({ runner }: RunnerConnection): Promise<void> {
    return runner.startTransaction()
  }

  commitTransaction({ runner }: RunnerConnection): Promise<void> {
    return runner.commitTransaction()
  }

  rollbackTransaction({ runner }: RunnerConnection): Promise<void> {
    return runner.rollbackTransaction()
  }

  releaseConnection({ runner }: RunnerConnection): Promise<void> {
    return runner.release()
  }

  /** The database brick closes it. */
  async destroy(): Promise<void> {}
}

class RunnerConnection implements DatabaseConnection {
  readonly runner: QueryRunner

  constructor(runner: QueryRunner) {
    this.runner = runner
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { records, affected } = await this.runner.query(sql, [...parameters], true)
    return {
      rows: (records ?? []) as Row[],
      // PostgreSQL returns null for a statement that changes no rows.
      ...(typeof affected === 'number' && { numAffectedRows: BigInt(affected) }),
    }
  }

  // oxlint-disable-next-line require-yield -- nothing that is asked through this is streamed
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Rows are not streamed here.')
  }
}
