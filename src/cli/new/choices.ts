import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { runningPackageManager } from '../../peers/package-manager.ts'
import { type CommandInput, textOf, UsageError } from '../command.ts'
import { tarballName } from '../add/tarball.ts'
import { frameworkManifest } from '../framework-manifest.ts'
import { recipeBook } from '../recipe-book.ts'
import { chosenBricks } from './chosen-bricks.ts'
import { type Manager, MANAGERS, versionOf } from './manager.ts'

const DATABASES = ['sqlite', 'postgres', 'mysql', 'none'] as const
const AUTHS = ['basic', 'none'] as const

/** Parts of a new application, with what `--no-…` leaves out. */
export const PARTS = {
  example: 'no notes or greetings as an example; users remain',
  lint: 'no oxlint',
  format: 'no Prettier',
  docker: 'no Dockerfile',
  ci: 'no workflow for GitHub Actions',
  git: 'no git init',
  install: 'no packages: only write the files, without the network',
} as const

export type Part = keyof typeof PARTS

/** Choices for a new application. */
export interface Choices {
  /** The name in package.json: that of the folder, or made of it for the current folder. */
  readonly name: string
  /** The target folder as an absolute path. */
  readonly folder: string
  readonly database: (typeof DATABASES)[number]
  readonly auth: (typeof AUTHS)[number]
  /** Proven addresses, own sessions, a fresh sign-in and a second factor, with their tables. */
  readonly hasAuthFeatures: boolean
  readonly manager: Manager
  /** For `packageManager` of package.json; undefined for npm. */
  readonly managerVersion: string | undefined
  readonly parts: ReadonlySet<Part>
  /**
   * Version of the packages in package.json, or the folder of their tarballs: `file:../packages`, as package.json finds it.
   * By default the version of this package.
   */
  readonly mortar: string | undefined
}

/**
 * Reads the arguments of `mortar new`. Users need a database, so without one there is no authentication either.
 * @throws UsageError for an invalid package name, an unknown choice, or choices that exclude each other.
 */
export function readChoices(input: Pick<CommandInput, 'values' | 'positionals' | 'directory'>): Choices {
  const [path, ...rest] = input.positionals
  if (path === undefined || path === '')
    throw new UsageError('Give the application a name: npx mortar new my-app')
  if (rest.length > 0) throw new UsageError('new accepts one name, without spaces.')
  const folder = resolve(input.directory, path)
  const { database, auth, hasAuthFeatures } = readUsers(input)
  const running = MANAGERS.find((name) => name === runningPackageManager())
  const manager = oneOf(input, 'package-manager', MANAGERS) ?? running ?? 'npm'
  return {
    name: checkName(folder === input.directory ? nameOfFolder(basename(folder)) : basename(folder)),
    folder,
    database,
    auth,
    hasAuthFeatures,
    manager,
    managerVersion: versionOf(manager),
    parts: readParts(input),
    mortar: checkMortar(textOf(input, 'mortar'), { folder, database, auth }),
  }
}

const COMPARATOR = String.raw`(?:[~^=]|[<>]=?)?\s*v?(?:\d+|x|\*)(?:\.(?:\d+|x|\*)){0,2}(?:-[\w.-]+)?(?:\+[\w.-]+)?`

/** A range of versions as npm reads it, or the name of a release such as `latest`. */
const VERSION = new RegExp(
  String.raw`^(?:[a-z][\w.-]*|${COMPARATOR}(?:(?:\s+-\s+|\s*\|\|\s*|\s+)${COMPARATOR})*)$`,
  'i',
)

/** @throws UsageError for an invalid version, and for a folder without a tarball that the application needs. */
function checkMortar(
  given: string | undefined,
  { folder, ...users }: Pick<Choices, 'folder' | 'database' | 'auth'>,
): string | undefined {
  if (given === undefined || VERSION.test(given)) return given
  if (!given.startsWith('file:'))
    throw new UsageError(
      `--mortar is '${given}'. Write a version such as ^${frameworkManifest().version}, or file: and the folder of the tarballs.`,
    )
  const place = resolve(folder, given.slice('file:'.length))
  const bricks = chosenBricks(users, recipeBook()).flatMap((each) => each.package ?? [])
  const missing = ['mortar', ...bricks]
    .map((name) => tarballName(name, frameworkManifest().version))
    .find((file) => !existsSync(join(place, file)))
  if (missing === undefined) return given
  throw new UsageError(`--mortar is ${given}, but there is no ${missing} in the folder ${place}.`)
}

/** @throws UsageError for users without a database, or features without users. */
function readUsers(
  input: Pick<CommandInput, 'values'>,
): Pick<Choices, 'database' | 'auth' | 'hasAuthFeatures'> {
  const database = oneOf(input, 'database', DATABASES) ?? 'sqlite'
  const given = oneOf(input, 'auth', AUTHS)
  if (database === 'none' && given === 'basic')
    throw new UsageError('--auth basic needs a database. Leave out --database none, or use --auth none.')
  const auth = given ?? (database === 'none' ? 'none' : 'basic')
  const hasAuthFeatures = input.values['auth-features'] === true
  if (hasAuthFeatures && auth === 'none')
    throw new UsageError('--auth-features needs --auth basic and a database.')
  return { database, auth, hasAuthFeatures }
}

function oneOf<const T extends string>(
  input: Pick<CommandInput, 'values'>,
  name: string,
  values: readonly T[],
): T | undefined {
  const given = textOf(input, name)
  const value = values.find((known) => known === given)
  if (given === undefined || value !== undefined) return value
  throw new UsageError(`--${name} is ${values.join(', ').replace(/, (\w+)$/, ' or $1')}, not '${given}'.`)
}

/**
 * Checks npm's rules for names. The framework's name is refused too, because a package cannot depend on its own name.
 */
function checkName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name) && name !== 'mortar' && name !== 'node_modules') return name
  const why =
    name === 'mortar'
      ? ': it is the name of the framework. Use another one'
      : ". Use lower-case letters, digits and '-'"
  throw new UsageError(`'${name}' is not a valid name for an application${why}, such as my-app.`)
}

/** Makes a package name of the name of the current folder, which may have capitals, accents and spaces. */
function nameOfFolder(folder: string): string {
  const plain = folder.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain.match(/[a-z0-9][a-z0-9._-]*/g)?.join('-') ?? 'app'
}

function readParts({ values }: Pick<CommandInput, 'values'>): ReadonlySet<Part> {
  const names = Object.keys(PARTS) as Part[]
  return new Set(names.filter((name) => values[`no-${name}`] !== true))
}
