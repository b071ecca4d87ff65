import { StartupError } from 'mortar'
import { installCommand } from 'mortar/kit'
import { type MongoClientLike, unreachedServers } from './compat/mongodb.ts'
import { commandOf, createRun, dbOf, type DocumentDatabase } from './connection.ts'
import { isInternal } from './driver-error.ts'

/** Milliseconds within which the server has to respond at the start. */
const LIMIT = 5000

/** The oldest major version of the driver that works: an older one cannot store an ObjectId of another package. */
const OLDEST_DRIVER = 7

/**
 * Checks the version of the driver, that the server responds, and that it lets this user read.
 * @throws StartupError `MORTAR_AUTH_DATABASE` for an old driver, `MORTAR_AUTH_UNREACHABLE` with the driver's reason, after
 * five seconds at most.
 */
export async function reach(db: DocumentDatabase): Promise<void> {
  await refuseOldDriver(db)
  const run = createRun(
    () => db,
    () => LIMIT,
  )
  try {
    // Unlike a ping, a read needs the right credentials.
    await run('auth_users', (users) => users.findOne({ _id: '' }))
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw unreachable(db, error)
  }
}

/** The part of the driver's client that has its version: a promise of the metadata in version 7. Each member is checked. */
interface ClientLike {
  readonly options?: { readonly metadata?: Metadata | Promise<Metadata> }
}

interface Metadata {
  readonly driver?: { readonly version?: unknown }
}

async function refuseOldDriver(db: DocumentDatabase): Promise<void> {
  const { client } = dbOf(db) as { readonly client?: ClientLike }
  const version = (await client?.options?.metadata)?.driver?.version
  if (typeof version !== 'string' || !(Number.parseInt(version, 10) < OLDEST_DRIVER)) return
  throw new StartupError(`documentAuth() is given a database of the driver mongodb ${version}.`, {
    code: 'MORTAR_AUTH_DATABASE',
    remedy: `Install a newer driver: ${installCommand([{ name: 'mongodb', range: String(OLDEST_DRIVER) }])}`,
    brick: 'auth',
  })
}

/** Returns the server's name for messages: `MongoDB 7.0.2`, `FerretDB v1.24.2`. */
export async function nameOfServer(db: DocumentDatabase): Promise<string> {
  const info = (await commandOf(db, { buildInfo: 1 }, LIMIT).catch(() => ({}))) as BuildInfo
  const ferret = info.ferretdb?.version ?? info.ferretdbVersion
  return ferret === undefined ? `server version ${info.version ?? 'unknown'}` : `FerretDB ${ferret}`
}

interface BuildInfo {
  readonly version?: string
  readonly ferretdb?: { readonly version?: string }
  readonly ferretdbVersion?: string
}

function unreachable(db: DocumentDatabase, cause: unknown): StartupError {
  const { client } = dbOf(db) as { readonly client?: MongoClientLike }
  const reason = unreachedServers(client) ?? messageOf(cause)
  return new StartupError(`The document database of documentAuth() cannot be used: ${reason}.`, {
    code: 'MORTAR_AUTH_UNREACHABLE',
    remedy:
      'Check that the server runs and is reachable, and check user, password, replicaSet and TLS in its connection string.',
    brick: 'auth',
  })
}

function messageOf(error: unknown): string {
  const { cause = error } = error as { readonly cause?: unknown }
  if (isInternal(cause))
    return 'the server responds with InternalError (code 1). FerretDB does so while its PostgreSQL is away; see its log'
  return cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
}
