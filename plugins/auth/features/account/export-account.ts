import { everyRow, NEVER, type Cell, type FeatureTable, type RecordRow } from '../../accounts/records.ts'
import type { Caller, OwnSession } from '../../flows/proof.ts'
import { asOwner } from '../as-owner.ts'
import type { FeatureKit } from '../feature.ts'

/** The stored data of a user. Moments are ISO strings. */
export interface AccountExport {
  readonly exportedAt: string
  /** The public record. */
  readonly user: Readonly<Record<string, unknown>>
  readonly sessions: readonly Readonly<Record<string, unknown>>[]
  /** The rows of features by table, without secrets. */
  readonly features: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  /** The data of the application; null without `exportData`. */
  readonly application: object | null
}

/** Returns the stored data of the user of a session. @throws Unauthorized if it is over; LimitReached. */
export type ExportAccount = (own: OwnSession, caller: Caller) => Promise<AccountExport>

/** Creates the export of one application. */
export function createExport(
  kit: FeatureKit,
  dataOf?: (userId: string) => object | PromiseLike<object>,
): ExportAccount {
  return (own, caller) =>
    asOwner(kit, { flow: 'exportAccount', rule: 'account', own, caller }, async (user) => {
      const tables = await Promise.all(kit.tables.map((table) => rowsOf(table, user.id)))
      return {
        exportedAt: moment(kit.clock.now()),
        user: user.raw,
        sessions: (await kit.sessions.list(user)).map(({ id, createdAt, rotatedAt, expiresAt }) => ({
          id,
          createdAt: moment(createdAt),
          refreshedAt: moment(rotatedAt),
          expiresAt: moment(expiresAt),
        })),
        features: Object.fromEntries(tables),
        application: (await dataOf?.(user.id)) ?? null,
      }
    })
}

/** Only the columns that a table shows, so that a secret of a new table stays out. */
async function rowsOf(table: FeatureTable, userId: string) {
  const { shape } = table
  const columns = [...(shape.shown ?? []), 'created_at', 'expires_at']
  const shown = (row: RecordRow) =>
    Object.fromEntries(columns.map((column) => [column, cellOf(column, row[column] ?? null)]))
  return [shape.name, (await everyRow(table, { user_id: userId })).map(shown)] as const
}

function cellOf(column: string, cell: Cell): Cell {
  if (typeof cell !== 'number' || !column.endsWith('_at')) return cell
  return cell === NEVER ? null : moment(cell)
}

function moment(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
