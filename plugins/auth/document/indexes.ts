import { StartupError } from '../../../src/index.ts'
import { createRun, type CollectionName, type DocumentDatabase, type Run } from './connection.ts'

interface Index {
  readonly name: string
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly unique?: true
}

/** Session ids and hashes of reset tokens are `_id`, which is unique by itself. */
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
 * Creates the indexes of the authentication that are not there: call it from a migration or a script of your deployment.
 * It may run again and in several processes at once.
 * @throws StartupError `MORTAR_AUTH_INDEX` when one cannot be made, such as where an address is stored twice.
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
 * Without its unique indexes two signups at once could take one address.
 * @throws StartupError `MORTAR_AUTH_INDEX` naming those that are missing.
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

/** By what an index does and not by its name, so that one of the application's own will do. */
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
    `The indexes ${names} of the collection ${collection} cannot be created${isDuplicate ? ': it holds duplicates' : ''}.`,
    {
      code: 'MORTAR_AUTH_INDEX',
      remedy: isDuplicate
        ? 'Remove all but one of the documents with the same key, then create the indexes again.'
        : 'See the cause; an index of other options on the same field has to be dropped first.',
      brick: 'auth',
      cause,
    },
  )
}
