import type { RecordRow } from '../../accounts/records.ts'

/** An account of another provider, as its user sees it. Dates are ISO strings. */
export interface LinkedAccount {
  readonly id: string
  readonly provider: string
  /** Address at the provider when it was linked; null if it has none. */
  readonly email: string | null
  readonly linkedAt: string
  readonly lastUsedAt: string | null
}

/** Converts a stored row. */
export function shown({
  id,
  provider,
  email,
  created_at: linkedAt,
  last_used_at: usedAt,
}: RecordRow): LinkedAccount {
  return {
    id: String(id),
    provider: String(provider),
    email: typeof email === 'string' ? email : null,
    linkedAt: new Date(Number(linkedAt)).toISOString(),
    lastUsedAt: typeof usedAt === 'number' ? new Date(usedAt).toISOString() : null,
  }
}
