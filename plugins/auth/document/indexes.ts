import { StartupError } from '../../../src/index.ts'
import { createRun, type CollectionName, type DocumentDatabase, type Run } from './connection.ts'

interface Index {
  readonly name: string
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly unique?: true
}

/** Session ids and hashes of reset tokens are stored as `_id`, which is always unique. */
const INDEXES: Readonly<Record<CollectionName, readonly Index[]>> = {
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
const COLLECTIONS = Object.keys(INDEXES) as CollectionName[]

/**
 * Creates the missing indexes of the auth brick. Call it from a migration or a deployment script. It may run repeatedly
 * and in several processes concurrently.
 * @throws StartupError `MORTAR_AUTH_INDEX` if an index cannot be created, for instance because an address is stored
 * twice.
 */
export async function ensureAuthIndexes(db: DocumentDatabase): Promise<void> {
  const run = createRun(() => db)
  for (const collection of COLLECTIONS) {
    const missing = await missingIn(run, collection)
    if (missing.length === 0) continue
    try {
      await run(collection, (each) => each.createIndexes(missing as never[]))
    } catch (error) {
      throw cannotCreate(collection, missing, error)
    }
  }
}

/**
 * Checks the unique indexes: without them two concurrent signups could get one address.
 * @throws StartupError `MORTAR_AUTH_INDEX` naming the missing ones.
 */
export async function checkAuthIndexes(db: DocumentDatabase): Promise<void> {
  const run = createRun(() => db)
  const missing: string[] = []
  for (const collection of COLLECTIONS)
    for (const { key, unique } of await missingIn(run, collection))
      if (unique) missing.push(`${collection} (${Object.keys(key).join(', ')})`)
  if (missing.length === 0) return
  throw new StartupError(`The document database has no unique index on ${missing.join(' and ')}.`, {
    code: 'MORTAR_AUTH_INDEX',
    remedy:
      "Call ensureAuthIndexes(db) of 'mortar/auth/document' in a migration or when you deploy, " +
      'or give documentAuth() the option createIndexes: true.',
    brick: 'auth',
  })
}

/** Compares the effect of an index and not its name, so that an index of the application is accepted. */
async function missingIn(run: Run, collection: CollectionName): Promise<readonly Index[]> {
  const present = await run(collection, async (each) => {
    try {
      return (await each.listIndexes().toArray()) as PresentIndex[]
    } catch (error) {
      if ((error as { code?: unknown }).code === NAMESPACE_NOT_FOUND) return []
      throw error
    }
  })
  return INDEXES[collection].filter((wanted) => !present.some((index) => serves(index, wanted)))
}

interface PresentIndex {
  readonly key: object
  readonly unique?: boolean
  readonly partialFilterExpression?: object
}

const NAMESPACE_NOT_FOUND = 26

function serves(index: PresentIndex, wanted: Index): boolean {
  if (JSON.stringify(index.key) !== JSON.stringify(wanted.key)) return false
  return !wanted.unique || (index.unique === true && index.partialFilterExpression === undefined)
}

function cannotCreate(collection: string, indexes: readonly Index[], cause: unknown): StartupError {
  const names = indexes.map(({ name }) => name).join(', ')
  const code = (cause as { code?: unknown }).code
  const isDuplicate = code === 11_000
  return new StartupError(
    `The indexes ${names} of the collection ${collection} cannot be created${isDuplicate ? ': it contains duplicates' : ''}.`,
    {
      code: 'MORTAR_AUTH_INDEX',
      remedy: isDuplicate
        ? 'Remove all but one of the documents with the same key, then create the indexes again.'
        : 'See the cause. Drop an index with other options on the same field first.',
      brick: 'auth',
      cause,
    },
  )
}
