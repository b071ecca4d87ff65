import { readdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { MigrationInterface } from 'typeorm'
import { fault } from '../startup-codes.ts'

/** A class with `up` and `down`, whose name ends in a timestamp of 13 digits. */
export type MigrationClass = new () => MigrationInterface

/** The folder of the migration files (an absolute path or a `file:` URL), or the classes themselves. */
export type MigrationSource = string | URL | readonly MigrationClass[]

/** One migration, ready to run. */
export interface LoadedMigration {
  /** Class name, such as `CreateNotes1763650000000`: the name that the database stores. */
  readonly name: string
  /** Milliseconds since the epoch, from the name; migrations run in this order. */
  readonly timestamp: number
  /** The file, or `a class` for a migration given as a class. */
  readonly origin: string
  readonly instance: MigrationInterface
}

/**
 * Lists the migrations of a folder or an array, oldest first. Files are `.ts` (under tsx), `.js`, `.mts` or `.mjs`;
 * files whose name begins with `_`, tests and declarations are ignored.
 * @throws StartupError for a missing folder, a file without a migration, a wrong name or a duplicate name.
 */
export async function loadMigrations(source: MigrationSource): Promise<LoadedMigration[]> {
  const loaded = isList(source)
    ? source.map((given) => toMigration(given, 'a class'))
    : await loadFolder(source)
  refuseDuplicates(loaded)
  return loaded.toSorted((a, b) => a.timestamp - b.timestamp || (a.name < b.name ? -1 : 1))
}

/**
 * Returns the folder as a path.
 * @throws StartupError for a relative path, which would depend on the working directory of the process.
 */
export function toFolder(source: string | URL): string {
  const folder = source instanceof URL ? fileURLToPath(source) : source
  if (isAbsolute(folder)) return folder
  throw fault('MORTAR_MIGRATIONS_FOLDER', `The migrations folder '${folder}' is a relative path.`, {
    remedy: `Write join(import.meta.dirname, '${folder}') or new URL('${folder}', import.meta.url).`,
  })
}

const isList = (source: MigrationSource): source is readonly MigrationClass[] => Array.isArray(source)

async function loadFolder(source: string | URL): Promise<LoadedMigration[]> {
  const folder = toFolder(source)
  const names = await listFolder(folder)
  const files = names
    .filter(isMigrationFile)
    .toSorted()
    .map((name) => join(folder, name))
  return (await Promise.all(files.map(loadFile))).flat()
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    throw fault('MORTAR_MIGRATIONS_FOLDER', `The migrations folder '${folder}' cannot be read.`, {
      remedy: 'Correct the path, or generate the first migration, which creates the folder.',
      cause: error,
    })
  }
}

function isMigrationFile(name: string): boolean {
  return /\.m?[jt]s$/.test(name) && !/^[_.]|\.d\.m?ts$|\.(test|spec)\.m?[jt]s$/.test(name)
}

async function loadFile(file: string): Promise<LoadedMigration[]> {
  const exported: unknown[] = Object.values(await importFile(file))
  const classes = [...new Set(exported)].filter(isMigrationClass)
  if (classes.length > 0) return classes.map((found) => toMigration(found, file))
  throw fault('MORTAR_MIGRATION_SHAPE', `${file} exports no migration.`, {
    remedy:
      'Export a class with the methods up and down, or begin the file name with _ if the file is not a migration.',
    files: [file],
  })
}

async function importFile(file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(file).href)) as object
  } catch (error) {
    throw fault('MORTAR_MIGRATION_SHAPE', `The migration ${file} cannot be loaded.`, {
      remedy: 'Correct the file. A .ts file needs tsx; a built application loads the compiled .js files.',
      files: [file],
      cause: error,
    })
  }
}

function isMigrationClass(value: unknown): value is MigrationClass {
  if (typeof value !== 'function') return false
  const { up, down } = (value.prototype ?? {}) as Partial<MigrationInterface>
  return typeof up === 'function' && typeof down === 'function'
}

function toMigration(Migration: MigrationClass, origin: string): LoadedMigration {
  const instance = new Migration()
  const name = instance.name ?? Migration.name
  const timestamp = Number(/\d{13}$/.exec(name)?.[0])
  if (timestamp) return { name, timestamp, origin, instance }
  throw fault(
    'MORTAR_MIGRATION_NAME',
    `The migration ${name} (${origin}) has no timestamp at the end of its class name.`,
    {
      remedy: `Add the milliseconds since the epoch to it, 13 digits: ${name}${Date.UTC(2026, 0, 1)}.`,
      files: origin === 'a class' ? [] : [origin],
    },
  )
}

function refuseDuplicates(migrations: readonly LoadedMigration[]): void {
  const byName = new Map<string, LoadedMigration>()
  for (const migration of migrations) {
    const { name, origin } = migration
    const other = byName.get(name)
    if (other)
      throw fault(
        'MORTAR_MIGRATION_NAME',
        `The migration ${name} exists twice: ${other.origin} and ${origin}.`,
        { remedy: 'Remove one of the two, or rename the newer class.', files: [other.origin, origin] },
      )
    byName.set(name, migration)
  }
}
