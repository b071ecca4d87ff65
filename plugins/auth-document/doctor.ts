import { StartupError, type DoctorFinding } from 'mortar'
import { type MongoClientLike, wasConnected } from './compat/mongodb.ts'
import { dbOf, type DocumentDatabase } from './connection.ts'
import { checkAuthIndexes } from './indexes.ts'

/**
 * Returns what `mortar doctor` reports about the database: an unreachable server, missing unique indexes, updates that
 * are not atomic. A DataSource is not connected then, so its database is not examined.
 */
export async function documentFindings(db: DocumentDatabase): Promise<readonly DoctorFinding[]> {
  try {
    await connected(db, () => checkAuthIndexes(db))
    return []
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    const { code, remedy, message } = error
    return [{ level: 'error', code, found: message.split('\n')[0]!, remedy, page: 'docs/startup-errors.md' }]
  }
}

/** Runs work, and closes a client that was not connected before. Returns undefined for a DataSource. */
export async function connected<T>(db: DocumentDatabase, work: () => Promise<T>): Promise<T | undefined> {
  const client = clientOf(db)
  if (client === undefined) return undefined
  const isOpen = wasConnected(client)
  try {
    return await work()
  } finally {
    // The application is not started, so nothing else closes what this work has opened.
    if (!isOpen) await client.close?.()
  }
}

function clientOf(db: DocumentDatabase): MongoClientLike | undefined {
  try {
    return (dbOf(db) as { readonly client?: MongoClientLike }).client
  } catch {
    return undefined
  }
}
