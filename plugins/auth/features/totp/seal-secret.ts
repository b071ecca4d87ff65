import type { RecordRow } from '../../accounts/records.ts'
import type { Vault } from '../../tokens/vault.ts'

/** Purpose of the sealed secrets. */
const PURPOSE = 'totp'

/** Returns the columns of a new sealed secret. */
export function sealSecret(vault: Vault, userId: string, secret: string): RecordRow {
  const { sealed, keyId } = vault.seal(PURPOSE, userId, secret)
  return { secret: sealed, key_id: keyId }
}

/** Opens the secret of a row; null if no secret of the application opens it. */
export function openSecret(vault: Vault, row: RecordRow): string | null {
  const sealed = { sealed: String(row['secret']), keyId: String(row['key_id']) }
  return vault.open(PURPOSE, String(row['user_id']), sealed)
}
