import { StartupError } from 'mortar'
import type { TableShape } from '@mortar/auth/provider'
import { checkAtomicity } from './atomicity.ts'
import {
  createRun,
  OPERATION_TIMEOUT,
  type CollectionName,
  type DocumentDatabase,
  type Run,
} from './connection.ts'
import { isDuplicateKey } from './driver-error.ts'
import { reach } from './reach.ts'

interface Index {
  readonly name: string
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly unique?: true
}

type Indexes = Readonly<Record<CollectionName, readonly Index[]>>

/** Session ids and hashes of reset tokens are stored as `_id`, which is always unique. */
const INDEXES: Indexes = {
  auth_users: [{ name: 'auth_users_email', key: { email: 1 }, unique: true }],
  auth_refresh_tokens: [
    { name: 'auth_refresh_tokens_family', key: { family_hash: 1 }, unique: true },
    { name: 'auth_refresh_tokens_user', key: { user_id: 1 } },
    { name: 'auth_refresh_tokens_expiry', key: { expires_at: 1 } },
  ],
  auth_reset_tokens: [
    { name: 'auth_reset_tokens_user', key: { user_id: 1, created_at: -1, _id: -1 } },
    { name: 'auth_reset_tokens_expiry', key: { expires_at: 1 } },
  ],
  auth_ended_sessions: [
    { name: 'auth_ended_sessions_moment', key: { ended_at: 1 } },
    { name: 'auth_ended_sessions_expiry', key: { expires_at: 1 } },
  ],
}

/** The indexes of the provider and of the features in its list. Keys of features are stored as `_id`. */
function indexesWith(features: Features): Indexes {
  const shapes = features.flatMap(({ tables = [] }) => tables)
  const added = shapes.map(({ name }): [CollectionName, Index[]] => [
    name,
    [
      { name: `${name}_user`, key: { user_id: 1 } },
      { name: `${name}_expiry`, key: { expires_at: 1 } },
    ],
  ])
  return { ...INDEXES, ...Object.fromEntries(added) }
}

/** The features of a provider, of which only the tables are read. */
type Features = readonly { readonly tables?: readonly Pick<TableShape, 'name'>[] }[]

/**
 * Creates the missing indexes of the auth brick, and checks the server. Call it from a migration or a deployment script.
 * `features` are those of the provider. It may run repeatedly and in several processes concurrently.
 * @throws StartupError `MORTAR_AUTH_INDEX` if an index cannot be created, for instance because an address is stored
 * twice; `MORTAR_AUTH_UNREACHABLE` and `MORTAR_AUTH_ATOMICITY` for the server.
 */
export async function ensureAuthIndexes(db: DocumentDatabase, features: Features = []): Promise<void> {
  await reach(db)
  const run = createRun(
    () => db,
    // Creating an index takes as long as the collection is large.
    () => undefined,
  )
  for (const [collection, wanted] of entriesOf(indexesWith(features))) {
    const { missing, rejected } = await missingIn(run, collection, wanted)
    if (missing.length === 0) continue
    try {
      await run(collection, (each) => each.createIndexes(missing as never[]))
    } catch (error) {
      throw await cannotCreate(run, { collection, missing, rejected, cause: error })
    }
  }
  await checkAtomicity(db, run)
}

/**
 * Checks the unique indexes, without which two concurrent signups could get one address, and the server.
 * @throws StartupError `MORTAR_AUTH_INDEX` naming the missing ones; `MORTAR_AUTH_UNREACHABLE` and
 * `MORTAR_AUTH_ATOMICITY` for the server.
 */
export async function checkAuthIndexes(db: DocumentDatabase): Promise<void> {
  await reach(db)
  const run = createRun(
    () => db,
    () => OPERATION_TIMEOUT,
  )
  const found: string[] = []
  for (const [collection, wanted] of entriesOf(INDEXES)) {
    const { missing, rejected } = await missingIn(run, collection, wanted)
    for (const { key, unique } of missing)
      if (unique) found.push(`${collection} (${Object.keys(key).join(', ')})${explain(rejected)}`)
  }
  if (found.length > 0) throw notThere(found)
  await checkAtomicity(db, run)
}

function notThere(missing: readonly string[]): StartupError {
  return new StartupError(`The document database has no unique index on ${missing.join(' and ')}.`, {
    code: 'MORTAR_AUTH_INDEX',
    remedy:
      "Call ensureAuthIndexes(db) of '@mortar/auth-document' in a migration or when you deploy, " +
      'or give documentAuth() the option createIndexes: true.',
    brick: 'auth',
  })
}

interface Missing {
  readonly missing: readonly Index[]
  /** Indexes on the same fields that do not count, each with the reason. */
  readonly rejected: readonly string[]
}

/** Compares the effect of an index and not its name, so that an index of the application is accepted. */
function entriesOf(indexes: Indexes): [CollectionName, readonly Index[]][] {
  return Object.entries(indexes) as [CollectionName, readonly Index[]][]
}

async function missingIn(run: Run, collection: CollectionName, indexes: readonly Index[]): Promise<Missing> {
  const present = await run(collection, async (each) => {
    try {
      return (await each.listIndexes().toArray()) as PresentIndex[]
    } catch (error) {
      if ((error as { code?: unknown }).code === NAMESPACE_NOT_FOUND) return []
      throw error
    }
  })
  const missing = indexes.filter(
    (wanted) => !present.some((index) => isOn(wanted, index) && faultOf(index, wanted) === undefined),
  )
  const rejected = present.flatMap((index) => {
    const fault = missing.filter((wanted) => isOn(wanted, index)).map((wanted) => faultOf(index, wanted))[0]
    return fault === undefined ? [] : [`'${index.name}' ${fault}`]
  })
  return { missing, rejected }
}

interface PresentIndex {
  readonly name: string
  readonly key: object
  readonly unique?: boolean
  readonly hidden?: boolean
  readonly collation?: { readonly locale?: string }
  readonly partialFilterExpression?: object
}

const NAMESPACE_NOT_FOUND = 26

function isOn(wanted: Index, { key }: PresentIndex): boolean {
  return JSON.stringify(key) === JSON.stringify(wanted.key)
}

/** Returns the reason why look-ups cannot use an index, or why it does not keep values unique. */
function faultOf(index: PresentIndex, wanted: Index): string | undefined {
  const { hidden, collation, unique, partialFilterExpression } = index
  if (hidden === true) return 'is hidden'
  if (collation !== undefined && collation.locale !== 'simple') return 'has a collation'
  if (partialFilterExpression !== undefined) return 'is partial'
  return wanted.unique && unique !== true ? 'is not unique' : undefined
}

function explain(rejected: readonly string[]): string {
  return rejected.length === 0 ? '' : ` (the index ${rejected.join(', the index ')})`
}

interface Failure extends Missing {
  readonly collection: CollectionName
  readonly cause: unknown
}

async function cannotCreate(run: Run, failure: Failure): Promise<StartupError> {
  const { collection, missing, rejected, cause } = failure
  const names = missing.map(({ name }) => name).join(', ')
  const isDuplicate = isDuplicateKey(cause) || (await hasDuplicates(run, failure))
  const found = isDuplicate ? ': it contains duplicates' : explain(rejected)
  return new StartupError(`The indexes ${names} of the collection ${collection} cannot be created${found}.`, {
    code: 'MORTAR_AUTH_INDEX',
    remedy: isDuplicate
      ? 'Remove all but one of the documents with the same key, then create the indexes again.'
      : 'See the cause. Drop an index with other options on the same field first.',
    brick: 'auth',
    // The message of a server may contain the key, which is an address.
    ...(!isDuplicate && { cause }),
  })
}

/** Looks for duplicates itself: servers report them with different codes. */
async function hasDuplicates(run: Run, { collection, missing }: Failure): Promise<boolean> {
  for (const { key, unique } of missing) {
    if (!unique) continue
    const [field] = Object.keys(key)
    const group = { $group: { _id: `$${field}`, count: { $sum: 1 } } }
    const pipeline = [group, { $match: { count: { $gt: 1 } } }, { $limit: 1 }]
    const found = await run(collection, (each) => each.aggregate(pipeline as never[]).toArray()).catch(
      () => [],
    )
    if (found.length > 0) return true
  }
  return false
}
