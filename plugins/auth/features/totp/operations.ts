import type { FactorOperations } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import { openSecret, sealSecret } from './seal-secret.ts'
import { TOTP } from './table.ts'

/** Creates the operations of operators. */
export function createFactorOperations({ records: recordsOf, vault }: FeatureKit): FactorOperations {
  const records = recordsOf(TOTP)
  const resealAll = async (keyId: string): Promise<number> => {
    let resealed = 0
    for (const row of await records.find({ key_id: keyId })) {
      const { user_id: userId = null, secret = null } = row
      const text = openSecret(vault, row)
      if (text !== null)
        resealed += await records.update({ user_id: userId, secret }, sealSecret(vault, String(userId), text))
    }
    return resealed
  }
  return {
    async usersWith(ids) {
      const rows = await records.find({ user_id: { anyOf: ids }, confirmed_at: { above: 0 } })
      return new Set(rows.map(({ user_id: id }) => String(id)))
    },
    async reseal() {
      const [first = '', ...older] = vault.keyIds
      let resealed = 0
      for (const keyId of older)
        // One look-up returns a part of the rows. It ends when all of them are resealed, or none of them opens.
        for (let part = await resealAll(keyId); part > 0; part = await resealAll(keyId)) resealed += part
      return { resealed, unreadable: (await records.find({ key_id: { noneOf: [first] } })).length }
    },
  }
}
