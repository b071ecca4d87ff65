import type { Engine } from './engine.ts'
import { startMariadb } from './mariadb.ts'
import { startPgbouncer } from './pgbouncer.ts'
import { startPostgres } from './postgres.ts'
import { startSqlite } from './sqlite.ts'

const ENGINES: Readonly<Record<string, (directory: string) => Promise<Engine>>> = {
  sqlite: startSqlite,
  postgres: startPostgres,
  pgbouncer: startPgbouncer,
  mariadb: startMariadb,
}

/** Starts an engine by its name. */
export function startEngine(name: string, directory: string): Promise<Engine> {
  const start = ENGINES[name]
  if (start !== undefined) return start(directory)
  throw new Error(`Unknown engine '${name}'. Use ${Object.keys(ENGINES).join(', ')}.`)
}
