import type { StartupCodes } from '../../src/index.ts'

/** Codes of the start-up errors and doctor findings of the database brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_DATABASE_DRIVER: {
    cause:
      'The database connection cannot be made: an unknown type, or a driver that is not installed or does not load',
    remedy: 'Write the type that the message names, or install its driver.',
  },
  MORTAR_DATABASE_ENTITIES: {
    cause: 'The entities of the database brick cannot be used',
    remedy: 'Correct the entity that is named, or add the one that is missing to `entities`.',
  },
  MORTAR_DATABASE_GATE: {
    cause: 'The installed version of TypeORM does not use the transaction gate of SQLite',
    remedy: 'Install a version of TypeORM that the installed version of Mortar names as its peer.',
  },
  MORTAR_DATABASE_UNREACHABLE: {
    cause: 'The database cannot be opened',
    remedy: 'Start it, or correct its address, user or rights, as the message says.',
  },
  MORTAR_DATABASE_URL: {
    cause: 'The database URL cannot be used, or SQLite is given no file',
    remedy:
      'Write `sqlite:data/app.db`, `sqlite::memory:`, `postgres://…` or `mysql://…`, with the password percent-encoded.',
  },
  MORTAR_DOCTOR_DATABASE_FILE: {
    cause: 'The file of the database does not exist yet',
    remedy: 'Make it: `mortar migrate run`.',
  },
  MORTAR_DOCTOR_MIGRATIONS: {
    cause: 'Migrations were not run, or their files are gone',
    remedy: 'Run them, or bring the files back.',
  },
  MORTAR_DOCTOR_SCHEMA: {
    cause: 'The database is not what the schema module describes',
    remedy: 'Generate a migration.',
  },
  MORTAR_MIGRATIONS_FOLDER: {
    cause: 'The folder of migrations is not known, relative, or cannot be read',
    remedy: "Write `migrations: join(import.meta.dirname, 'migrations')`.",
  },
  MORTAR_MIGRATION_FAILED: {
    cause: 'A migration failed while it ran',
    remedy: 'Correct it and run it again; it is rolled back, but MariaDB and MySQL keep changes of tables.',
  },
  MORTAR_MIGRATION_LOCKED: {
    cause: 'Another process is running migrations on this database',
    remedy: 'Wait for it to end, or end it, and start again.',
  },
  MORTAR_MIGRATION_MISSING: {
    cause: 'A migration was run on this database and its file is gone',
    remedy: 'Bring the file back from version control to undo it.',
  },
  MORTAR_MIGRATION_NAME: {
    cause: 'A migration has a name that cannot be used, or one that is there twice',
    remedy: 'Write what it does in words, with 13 digits of time at the end of the class name.',
  },
  MORTAR_MIGRATION_PENDING: {
    cause: 'Migrations were not run on this database, and a new one is to be generated',
    remedy: 'Run them first.',
  },
  MORTAR_MIGRATION_SHAPE: {
    cause: 'A file of the migrations folder exports no migration, or cannot be loaded',
    remedy: "Export a class with `up` and `down`, or begin the file's name with `_`.",
  },
  MORTAR_SQLITE_DRIVER: {
    cause: 'A warning: better-sqlite3 does not load and libsql is used, or its version can abort this Node',
    remedy: 'Install the version that the message names. See runtimes.md.',
  },
  MORTAR_TRANSACTION: {
    cause:
      'A warning of the process, not an error: a transaction holds the SQLite connection for long, or was left open',
    remedy: 'End the transaction that the warning names sooner.',
  },
  MORTAR_UNPREPARED: {
    cause:
      'A warning: PostgreSQL has lost a prepared statement, behind a pooler in transaction mode or after a migration',
    remedy: 'Nothing is to be done: `query()` no longer prepares statements in this process.',
  },
} as const satisfies StartupCodes
