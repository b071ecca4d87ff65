import type { DoctorFinding } from 'mortar'
import type { FeatureTables } from '../feature.ts'
import { TOTP } from './table.ts'

const FINDING = { code: 'MORTAR_AUTH_SEALED', page: 'docs/startup-errors.md' } as const

/** Findings about secrets of authenticators that need an older secret of the application, or one that is gone. */
export async function totpFindings({ records, vault }: FeatureTables): Promise<readonly DoctorFinding[]> {
  const [first = ''] = vault.keyIds
  const rows = await records(TOTP).find({ key_id: { noneOf: [first] } })
  const known = rows.filter(({ key_id: keyId }) => vault.keyIds.includes(String(keyId))).length
  const old = {
    level: 'warning',
    found: `${known} authenticators are sealed with an older secret of AUTH_SECRETS.`,
    remedy: 'Run npx mortar auth reseal before you remove that secret.',
  } as const
  const lost = {
    level: 'error',
    found: `${rows.length - known} authenticators are sealed with a secret that is not in AUTH_SECRETS: their codes are refused.`,
    remedy: 'Append the old secret to the list, then run npx mortar auth reseal.',
  } as const
  const found = [...(known === 0 ? [] : [old]), ...(known === rows.length ? [] : [lost])]
  return found.map((each) => ({ ...FINDING, ...each }))
}
