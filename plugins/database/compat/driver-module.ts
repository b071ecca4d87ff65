/*
 * The parts of TypeORM's drivers that this brick replaces: the methods of `driver` that TypeORM calls on the object, the
 * package in `driver.postgres` or `driver.mysql` from which it makes its pool, the class in `driver.sqlite`, and `utc` of
 * a column. Without them, dates would be in local time and limits would not hold, so the start fails.
 * test/plugins/database/drifted-packages.test.ts renames each of them.
 */
import type { DataSource } from 'typeorm'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'
import type { StartupError } from 'mortar'
import { installed } from 'mortar/kit'
import { fault } from '../startup-codes.ts'

type Driver = DataSource['driver']

/** The error of a version of TypeORM without a part that the brick replaces. */
export function lacks(found: string): StartupError {
  return fault('MORTAR_DATABASE_TYPEORM', `${namedTypeOrm()} ${found}.`)
}

/** Names TypeORM with its version: `TypeORM 1.1.1`. */
export const namedTypeOrm = (): string => installed('typeorm', import.meta.url, 'TypeORM')

/**
 * Returns a method of a driver that is going to be replaced.
 * @throws StartupError if the driver has no method of this name.
 */
export function methodOf<Name extends keyof Driver>(driver: Driver, name: Name): Driver[Name] {
  const method: unknown = driver[name]
  if (typeof method !== 'function') throw lacks(`has no '${name}' in its drivers`)
  return method.bind(driver) as Driver[Name]
}

const MAKERS = { postgres: 'Pool', mysql: 'createPool' } as const
type PackageName = keyof typeof MAKERS
const PACKAGES: Readonly<Record<string, PackageName>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
}

/**
 * Replaces the package from which TypeORM's driver makes its pool.
 * @throws StartupError from the connect, if the pool was made from another object.
 */
export function replaceDriverModule(
  { driver, options }: DataSource,
  replacements: Readonly<Record<PackageName, (module: unknown) => unknown>>,
): void {
  const packages = driver as Partial<Record<PackageName, object>>
  let isUsed = false
  for (const name of Object.keys(MAKERS) as PackageName[])
    if (hasMaker(packages[name], MAKERS[name])) {
      const replaced = replacements[name](packages[name]) as object
      packages[name] = noticingReads(replaced, MAKERS[name], () => (isUsed = true))
    }
  const name = PACKAGES[options.type]
  // mysql2 makes a cluster in place of a pool.
  if (name === undefined || (name === 'mysql' && 'replication' in options && options.replication)) return
  const connect = methodOf(driver, 'connect')
  driver.connect = async () => {
    await connect()
    if (isUsed) return
    await driver.disconnect()
    throw lacks(`does not make its pool from '${name}' of its driver`)
  }
}

function hasMaker(module: object | undefined, maker: string): boolean {
  return typeof (module as Partial<Record<string, unknown>> | undefined)?.[maker] === 'function'
}

function noticingReads(module: object, name: string, notice: () => void): object {
  function get(): unknown {
    notice()
    return Reflect.get(module, name)
  }
  return Object.create(module, { [name]: { get, enumerable: true } }) as object
}

/**
 * Replaces the class from which TypeORM's driver makes its connections to SQLite.
 * @throws StartupError if the driver keeps it elsewhere.
 */
export function replaceSqliteClass<Class>({ driver }: DataSource, replace: (given: Class) => Class): void {
  const own = driver as { sqlite?: Class }
  if (typeof own.sqlite !== 'function') throw lacks("keeps no class of SQLite in 'sqlite' of its driver")
  own.sqlite = replace(own.sqlite)
}

/** A date whose local day is another one than its day in UTC, in every time zone. */
class OtherDay extends Date {
  override getFullYear = (): number => 2000
  override getMonth = (): number => 0
  override getDate = (): number => 1
}

const PROBE = new OtherDay('2026-10-25T12:00Z')
const PROBE_DAY = '2026-10-25'

/**
 * Returns the function by which a Date in a column `date` is written as its day in UTC. Drivers of databases without such
 * columns, and those that send a Date, ignore it.
 * @throws StartupError if the driver would write the local day as text.
 */
export function utcDayWriter(driver: Driver): (column: ColumnMetadata) => void {
  const write = (column: { utc: boolean }): void => void (column.utc = true)
  const column = { type: 'date', utc: false } as ColumnMetadata
  write(column)
  const written: unknown = methodOf(driver, 'preparePersistentValue')(PROBE, column)
  if (typeof written === 'string' && written !== PROBE_DAY)
    throw lacks("does not write days by 'utc' of a column")
  return write
}
