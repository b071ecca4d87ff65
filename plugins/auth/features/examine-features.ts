import type { DoctorFinding } from 'mortar'
import type { Records, TableShape } from '../accounts/records.ts'
import { describeFailure } from '../errors.ts'
import type { AuthKeys } from '../tokens/keys.ts'
import { createVault } from '../tokens/vault.ts'
import type { AuthFeature } from './feature.ts'

/** The database of the features, and the keys of its sealed texts. */
export interface Examined {
  readonly keys: AuthKeys
  records(shape: TableShape): Records
  /** Runs work with a connection; undefined if there is no database that it may open. */
  connected<T>(work: () => Promise<T>): Promise<T | undefined> | undefined
}

/** Returns the findings of features about their tables. A database that does not respond is a finding too. */
export async function examineFeatures(
  features: readonly AuthFeature[],
  { keys, records, connected }: Examined,
): Promise<readonly DoctorFinding[]> {
  const examined = features.flatMap(({ doctor }) => doctor ?? [])
  if (examined.length === 0) return []
  const tables = { vault: createVault(keys.seal), records }
  try {
    const found = await connected(() => Promise.all(examined.map((doctor) => doctor(tables))))
    return found?.flat() ?? []
  } catch (error) {
    return [
      {
        level: 'warning',
        code: 'MORTAR_AUTH_SEALED',
        found: `The sealed secrets of authenticators could not be examined: ${describeFailure(error)}`,
        remedy: 'Run the pending migrations, and check that the database responds.',
        page: 'docs/startup-errors.md',
      },
    ]
  }
}
