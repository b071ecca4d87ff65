import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors and doctor findings of the database brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_DATABASE_DRIVER: {
    cause:
      'The database type is unknown, or its driver is not installed, does not load, or has another interface',
    remedy: 'Use the type that the message names, or install its driver.',
  },
  MORTAR_DATABASE_ENTITIES: {
    cause: 'The entities of the database brick cannot be used',
    remedy: 'Fix the entity that the message names, or add the missing one to `entities`.',
  },
  MORTAR_DATABASE_ESCAPES: {
    cause: 'Values could leave their text, because the server has the mode `NO_BACKSLASH_ESCAPES`',
    remedy: 'Let `database()` open the connection, or take the mode out of `sql_mode`.',
  },
  MORTAR_DATABASE_GATE: {
    cause: 'The installed version of TypeORM does not use the transaction gate of SQLite',
    remedy: 'Install the version on which `@mortar/database` depends. `npm ls typeorm` lists the versions.',
  },
  MORTAR_DATABASE_TYPEORM: {
    cause: 'The installed version of TypeORM lacks a part that the database brick replaces',
    remedy: 'Install the version on which `@mortar/database` depends. `npm ls typeorm` lists the versions.',
  },
  MORTAR_DATABASE_UNREACHABLE: {
    cause: 'The database cannot be opened',
    remedy: 'Start the database, or fix its address, user or permissions, as the message says.',
  },
  MORTAR_DATABASE_URL: {
    cause: 'The database URL is invalid, an SQLite URL names no file, or the options name no type',
    remedy:
      'Use `sqlite:data/app.db`, `sqlite::memory:`, `postgres://…` or `mysql://…`, with the password percent-encoded.',
  },
  MORTAR_DATABASE_WRITES: {
    cause: '`mortar console` cannot make the database refuse writes',
    remedy: 'Connect without a pooler that ignores the settings of a session, or use `--write`.',
  },
  MORTAR_DOCTOR_DATABASE_FILE: {
    cause: 'The database file does not exist yet',
    remedy: 'Create it with `npx mortar migrate run`.',
  },
  MORTAR_DOCTOR_LOCAL_TIME: {
    cause: 'Tables may have dates in local time, from a version before all dates were in UTC',
    remedy: 'Rewrite them by a migration whose name ends in `InUtc`.',
  },
  MORTAR_DOCTOR_MIGRATIONS: {
    cause: 'Migrations are pending, or their files are missing',
    remedy: 'Run the pending migrations, or restore the files.',
  },
  MORTAR_DOCTOR_SCHEMA: {
    cause: 'The database differs from the schema module',
    remedy: 'Generate a migration.',
  },
  MORTAR_DOCTOR_UNKNOWN_TABLES: {
    cause: 'The database has tables that no entity describes',
    remedy: 'Add an entity, or drop the table by a migration.',
  },
  MORTAR_MIGRATIONS_FOLDER: {
    cause: 'The migrations folder is not set, is relative, or cannot be read',
    remedy: "Write `migrations: join(import.meta.dirname, 'migrations')`.",
  },
  MORTAR_MIGRATION_BATCHES: {
    cause: '`inBatches()` runs inside a transaction, which would keep the locks of all batches',
    remedy: 'Add `readonly transaction = false` to the migration, or call it outside of `transaction()`.',
  },
  MORTAR_MIGRATION_BLOCKED: {
    cause: 'A migration did not get the lock of a table, because another transaction uses the table',
    remedy: 'End long transactions, or increase `lockTimeout`, and run it again.',
  },
  MORTAR_MIGRATION_FAILED: {
    cause: 'A migration failed while it ran',
    remedy: 'Fix it and run it again. The message says whether something of it was applied and remains.',
  },
  MORTAR_MIGRATION_LOCKED: {
    cause: 'Another process is running migrations on this database',
    remedy: 'Wait for that process to end, or stop it, and start again.',
  },
  MORTAR_MIGRATION_MISSING: {
    cause: 'A migration was run on this database, and its file is missing',
    remedy: 'Restore the file from version control to undo the migration.',
  },
  MORTAR_MIGRATION_NAME: {
    cause: 'A migration has an invalid name, or two have the same name',
    remedy: 'Describe the change in words, and end the class name with a timestamp of 13 digits.',
  },
  MORTAR_MIGRATION_PENDING: {
    cause:
      'Migrations are pending on this database: in production the start stops, and none can be generated',
    remedy: 'Run the pending migrations: `npx mortar migrate run`. Or set `pendingMigrations`.',
  },
  MORTAR_MIGRATION_SHAPE: {
    cause: 'A file of the migrations folder exports no migration, or cannot be loaded',
    remedy: 'Export a class with `up` and `down`, or begin the file name with `_`.',
  },
  MORTAR_SQLITE_DRIVER: {
    cause:
      'A warning: libsql is used because better-sqlite3 does not load, or the installed version of better-sqlite3 can abort this Node',
    remedy: 'Install the version that the message names. See runtimes.md.',
  },
  MORTAR_TRANSACTION: {
    cause:
      'A warning of the process, not an error: a transaction uses the SQLite connection for a long time, or was left open',
    remedy: 'End the transaction that the warning names sooner.',
  },
  MORTAR_UNPREPARED: {
    cause:
      'A warning: PostgreSQL has lost a prepared statement, behind a pooler in transaction mode or after a migration',
    remedy: 'No action is needed: `query()` no longer prepares statements in this process.',
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'database', codes: STARTUP_CODES })
