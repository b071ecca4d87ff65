import { randomUUID } from 'node:crypto'
import { StartupError } from 'mortar'
import { dbOf, type CollectionLike, type DocumentDatabase, type Run } from './connection.ts'
import { nameOfServer } from './reach.ts'

/** Simultaneous updates of one document, of which one may match. */
const UPDATES = 50
const ROUNDS = 2

/** Clients of the driver whose server was checked by this process. */
const checked = new WeakSet<object>()

/**
 * Checks that the server applies the condition and the change of one update as one step: without that, two changes of a
 * password or two rotations could both succeed. The probe is a document of `auth_ended_sessions` that no reader finds.
 * @throws StartupError `MORTAR_AUTH_ATOMICITY` naming the server.
 */
export async function checkAtomicity(db: DocumentDatabase, run: Run): Promise<void> {
  const { client = db } = dbOf(db) as { readonly client?: object }
  if (checked.has(client)) return
  for (let round = 0; round < ROUNDS; round++) {
    const matched = await run('auth_ended_sessions', countMatches)
    if (matched === 1) continue
    throw new StartupError(
      `The document database (${await nameOfServer(db)}) does not change one document atomically: ` +
        `${matched} of ${UPDATES} simultaneous updates met a condition that only one can meet.`,
      {
        code: 'MORTAR_AUTH_ATOMICITY',
        remedy:
          'Use a server that does: MongoDB, or FerretDB 2. FerretDB 1 does not, whatever its backend; ' +
          'two changes of one password could both succeed on it.',
        brick: 'auth',
      },
    )
  }
  checked.add(client)
}

async function countMatches(probes: CollectionLike): Promise<number> {
  const _id = `atomicity-${randomUUID()}`
  // Deleted with the expired records if this process ends before it deletes the probe.
  await probes.insertOne({ _id, step: 0, expires_at: Date.now() })
  try {
    const updates = Array.from({ length: UPDATES }, () =>
      probes.updateOne({ _id, step: 0 }, { $set: { step: 1 } }),
    )
    const results = await Promise.all(updates)
    return results.reduce((sum, { matchedCount }) => sum + matchedCount, 0)
  } finally {
    await probes.deleteOne({ _id })
  }
}
