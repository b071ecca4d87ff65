import { readdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { MigrationInterface } from 'typeorm'
import { StartupError } from '../../src/index.ts'

/** A class with `up` and `down`, whose name ends in a timestamp of 13 digits. */
export type MigrationClass = new () => MigrationInterface

/** The folder of the migration files (an absolute path or a `file:` URL), or the classes themselves. */
export type MigrationSource = string | URL | readonly MigrationClass[]

/** One migration, ready to run. */
export interface LoadedMigration {
  /** Class name, such as `CreateNotes1763650000000`: what the database remembers. */
  readonly name: string
  /** Milliseconds since the epoch, from the name; migrations run in this order. */
  readonly timestamp: number
  /** The file, or `a class` when it was given as such. */
  readonly origin: string
  readonly instance: MigrationInterface
}

/**
 * The migrations of a folder or a list, oldest first. Files are `.ts` (under tsx), `.js`, `.mts` or `.mjs`; those whose
 * name begins with `_`, tests and declarations are left out.
 * @throws StartupError for a folder that is not there, a file without a migration, a wrong name or two of one name.
 */
export async function loadMigrations(source: MigrationSource): Promise<LoadedMigration[]> {
  const loaded = isList(source)
    ? source.map((given) => toMigration(given, 'a class'))
    : await loadFolder(source)
  refuseDuplicates(loaded)
  return loaded.toSorted((a, b) => a.timestamp - b.timestamp || (a.name < b.name ? -1 : 1))
}

/**
 * The folder as a path.
 * @throws StartupError for a relative one, which would be another folder wherever the process is started.
 */
export function toFolder(source: string | URL): string {
  const folder = source instanceof URL ? fileURLToPath(source) : source
  if (isAbsolute(folder)) return folder
  throw new StartupError(`The migrations folder '${folder}' is a relative path.`, {
    code: 'MORTAR_MIGRATIONS_FOLDER',
    remedy: `Write join(import.meta.dirname, '${folder}') or new URL('${folder}', import.meta.url).`,
    brick: 'database',
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
    throw new StartupError(`The migrations folder '${folder}' cannot be read.`, {
      code: 'MORTAR_MIGRATIONS_FOLDER',
      remedy: 'Correct the path, or make the folder by generating the first migration.',
      brick: 'database',
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
  throw new StartupError(`${file} exports no migration.`, {
    code: 'MORTAR_MIGRATION_SHAPE',
    remedy:
      'Export a class with the methods up and down, or begin the name of the file with _ if it is none.',
    files: [file],
    brick: 'database',
  })
}

async function importFile(file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(file).href)) as object
  } catch (error) {
    throw new StartupError(`The migration ${file} cannot be loaded.`, {
      code: 'MORTAR_MIGRATION_SHAPE',
      remedy:
        'Correct the file; a .ts file needs tsx, a built application loads the .js files beside its own.',
      files: [file],
      brick: 'database',
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
  throw new StartupError(`The migration ${name} (${origin}) has no timestamp at the end of its class name.`, {
    code: 'MORTAR_MIGRATION_NAME',
    remedy: `Add the milliseconds since the epoch to it, 13 digits: ${name}${Date.UTC(2026, 0, 1)}.`,
    files: origin === 'a class' ? [] : [origin],
    brick: 'database',
  })
}

function refuseDuplicates(migrations: readonly LoadedMigration[]): void {
  const byName = new Map<string, LoadedMigration>()
  for (const migration of migrations) {
    const { name, origin } = migration
    const other = byName.get(name)
    if (other)
      throw new StartupError(`The migration ${name} is there twice: ${other.origin} and ${origin}.`, {
        code: 'MORTAR_MIGRATION_NAME',
        remedy: 'Remove one of the two, or rename the class of the later one.',
        files: [other.origin, origin],
        brick: 'database',
      })
    byName.set(name, migration)
  }
}
