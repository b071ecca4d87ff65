import type { DataSource, QueryRunner } from 'typeorm'
import type { Duration } from 'mortar'
import { installed, seconds } from 'mortar/kit'
import { canWatchMysql } from '../compat/mysql2.ts'
import { canWatchPg, sendsSettings } from '../compat/pg.ts'
import { replaceDriverModule } from '../compat/driver-module.ts'
import { replaceLostStatements } from '../compat/typeorm.ts'
import { typeorm } from '../drivers/typeorm.ts'
import { withEscapingClusters } from './mysql-cluster.ts'
import { type MysqlModule, withWatchedPool as withMysqlPool } from './mysql-pool.ts'
import { type PgModule, withWatchedPool as withPgPool } from './postgres-pool.ts'
import type { PoolLimits } from './pool-limits.ts'
import type { SilenceWatch } from './silence-watch.ts'
import { markUnavailable } from './unavailable.ts'

/** Limits of the connections to a database server. */
export interface ConnectionLimits {
  /** Longest wait for a connection that works; seconds or `'10s'`, by default 10 s. Then the caller receives a 503. */
  readonly poolTimeout?: Duration
  /**
   * Longest silence of a connection during a statement, if the server cannot say that it works on it; seconds or
   * `'30s'`, by default 30 s. Then the connection ends.
   */
  readonly silence?: Duration
  /** Longest time of one statement; seconds or `'30s'`. By default only the server's own limit counts. */
  readonly statementTimeout?: Duration
}

/** Milliseconds. */
interface Limits {
  poolTimeout: number
  silence: number
  statementTimeout: number | undefined
  refusesWrites: boolean
}

const NO_LIMITS = { poolTimeout: 10_000, silence: 30_000, statementTimeout: undefined, refusesWrites: false }
const limits = new WeakMap<DataSource, Limits>()
const watches = new WeakMap<DataSource, Set<SilenceWatch>>()

/** Returns the option `statementTimeout` in milliseconds; undefined without it, and on SQLite. */
export function statementTimeoutOf(dataSource: DataSource): number | undefined {
  return limits.get(dataSource)?.statementTimeout
}

/** Returns the limits of a DataSource for another one beside it, without that of statements. */
export function limitsOf(dataSource: DataSource): ConnectionLimits {
  const { poolTimeout, silence } = limits.get(dataSource) ?? NO_LIMITS
  return { poolTimeout: poolTimeout / 1000, silence: silence / 1000 }
}

/**
 * Makes the connections of a PostgreSQL, MariaDB or MySQL DataSource end when they have gone silent. Call it before the
 * connection is opened. A repeated call only changes the limits. Does nothing on other databases.
 */
export function watchConnections(dataSource: DataSource, given: ConnectionLimits = {}): void {
  const own: Limits = limits.get(dataSource) ?? { ...NO_LIMITS }
  if (given.poolTimeout !== undefined) own.poolTimeout = seconds(given.poolTimeout) * 1000
  if (given.silence !== undefined) own.silence = seconds(given.silence) * 1000
  if (given.statementTimeout !== undefined) own.statementTimeout = seconds(given.statementTimeout) * 1000
  if (limits.has(dataSource) || dataSource.isInitialized) return
  limits.set(dataSource, own)
  const pools = new Set<SilenceWatch>()
  watches.set(dataSource, pools)
  const read: PoolLimits = {
    poolTimeout: () => own.poolTimeout,
    silence: () => own.silence,
    statementTimeout: () => own.statementTimeout,
    refusesWrites: () => own.refusesWrites,
    onPool: (watch) => void pools.add(watch),
  }
  replaceDriverModule(dataSource, {
    postgres: (pg) => withPgPool(pg as PgModule, read),
    mysql: (mysql) => withMysqlPool(withEscapingClusters(mysql as MysqlModule), read),
  })
  // TypeORM alone reports a released runner, as if the application had made a mistake.
  replaceLostStatements(dataSource, lostStatement)
}

/** Makes the sessions refuse writes that are opened from now on. Does nothing on SQLite. */
export function openForReading(dataSource: DataSource): void {
  watchConnections(dataSource)
  const own = limits.get(dataSource)
  if (own !== undefined) own.refusesWrites = true
}

/** Replaces the connections of a DataSource as they become free. Does nothing on SQLite. */
export function retireConnections(dataSource: DataSource): void {
  for (const watch of watches.get(dataSource) ?? []) watch.retire()
}

/** Returns what the installed version of the driver has changed, with the consequences, for the log. */
export function findChangedDriver({ driver }: DataSource): string[] {
  const { postgres, mysql } = driver as { postgres?: PgModule; mysql?: MysqlModule }
  const isWatched =
    (postgres === undefined || canWatchPg(postgres)) && (mysql === undefined || canWatchMysql(mysql))
  const hasSettings = postgres === undefined || sendsSettings(postgres.Client)
  const changes = [...(isWatched ? [] : [UNWATCHED]), ...(hasSettings ? [] : [NO_SETTINGS])]
  const name = postgres === undefined ? 'mysql2' : 'pg'
  return changes.map((change) => `${installed(name, import.meta.url)} ${change} ${REMEDY}`)
}

const UNWATCHED =
  'keeps its sockets elsewhere, or tells its events in another way. Connections that go silent stay in the pool until ' +
  'the operating system ends them.'

const NO_SETTINGS =
  'starts its sessions in another way. Their time zone is sent as the option `options`, which some poolers refuse.'

const REMEDY = 'Install a version that the installed version of Mortar names as its peer.'

function lostStatement(error: Error): QueryRunner['query'] {
  markUnavailable(error, 'database_unavailable')
  return async (sql, parameters) => {
    throw new typeorm.QueryFailedError(sql, parameters as unknown[] | undefined, error)
  }
}
