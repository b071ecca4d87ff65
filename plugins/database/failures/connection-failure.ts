import type { DataSourceOptions } from 'typeorm'
import { StartupError } from 'mortar'
import { nativeError, peerError } from 'mortar/kit'
import { databaseNeed, typeorm } from '../drivers/typeorm.ts'
import { fault } from '../startup-codes.ts'

/** The connection options that messages use, for the supported kinds of database. */
interface Address {
  readonly type: string
  readonly host?: string
  readonly port?: number | string
  readonly database?: string
  readonly url?: unknown
  readonly password?: unknown
  readonly key?: unknown
}

/** Makes the error of `createDataSource` for an unknown type or a driver that is not installed. */
export function describeConstruction(error: unknown, options: { readonly type: string }): StartupError {
  const { type } = options
  if (error instanceof StartupError) return error
  const missing = peerError([databaseNeed(type)])
  if (missing !== undefined) return missing
  const remedy =
    type.includes('sqlite') && type !== 'better-sqlite3' ? `Write type: 'better-sqlite3'.` : INSTALL
  return fault(
    'MORTAR_DATABASE_DRIVER',
    `The database connection cannot be made: ${messageOf(error).split('. Supported')[0]}`,
    { remedy, cause: error },
  )
}

const INSTALL = 'Correct the type, or install a driver: better-sqlite3, pg or mysql2.'

/**
 * Makes the error of `initialize()` for contradictory entities or an unreachable database. The driver's error does not
 * become the cause, because some drivers include the URL or the password.
 */
export function describeOpening(error: unknown, options: DataSourceOptions): StartupError {
  if (error instanceof StartupError) return error
  const reason = hideSecrets(messageOf(error), options as Address)
  if (NOT_BUILT.test(reason)) return nativeError(options.type, { of: "the brick 'database'", reason })
  if (error instanceof typeorm.TypeORMError && !(error instanceof typeorm.QueryFailedError))
    return fault(
      'MORTAR_DATABASE_ENTITIES',
      `The entities of the brick 'database' cannot be used: ${reason}`,
      { remedy: 'Correct the named entity, or add the missing one to `entities`.', cause: error },
    )
  return fault(
    'MORTAR_DATABASE_UNREACHABLE',
    `The brick 'database' cannot open ${addressOf(options as Address)}: ${reason}`,
    { remedy: remedyFor(options.type) },
  )
}

/** Matches the errors of better-sqlite3 without its native part, or with one for another version of Node. */
const NOT_BUILT = /could not locate the bindings file|NODE_MODULE_VERSION|ERR_DLOPEN_FAILED/i

function remedyFor(type: string): string {
  return type === 'better-sqlite3'
    ? 'Check that the path is a SQLite file or does not exist yet, and that this process may write to its folder.'
    : 'Check that the server runs and is reachable, and check the user, the password and the database name.'
}

/** Formats the address without user and password: `postgres at db.example:5432, database app`. */
function addressOf(options: Address): string {
  const { type, host, port, database } = { ...options, ...partsOf(options.url) }
  if (type === 'better-sqlite3') return `the SQLite database ${database}`
  const server = host ? ` at ${host}${port ? `:${port}` : ''}` : ''
  return `${type}${server}${database ? `, database ${database}` : ''}`
}

function partsOf(url: unknown): Partial<Address> {
  if (typeof url !== 'string' || !URL.canParse(url)) return {}
  const { hostname, port } = new URL(url)
  return { host: hostname, port }
}

/** Returns the message of an error. If a host name has several addresses, the messages are one level deeper. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message || error.name : String(error)
}

function hideSecrets(message: string, { password, key, url }: Address): string {
  const inUrl = typeof url === 'string' && URL.canParse(url) ? new URL(url).password : ''
  const secrets = [url, password, key, inUrl, safelyDecoded(inUrl)]
  return secrets.reduce<string>(
    (text, secret) => (typeof secret === 'string' && secret ? text.replaceAll(secret, '***') : text),
    message,
  )
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
