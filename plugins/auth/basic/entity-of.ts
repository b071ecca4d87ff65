import type { EntitySchema, EntitySchemaColumnOptions } from 'typeorm'
import { COMMON_NUMBERS, type RecordRow, type TableShape } from '../accounts/records.ts'
import { MILLISECONDS, OWNER } from './columns.ts'
import { entitySchema } from './entity-schema.ts'

type Columns = Record<string, EntitySchemaColumnOptions>

/** Makes the entity of a feature's table. */
export function entityOf({
  name,
  key,
  texts = {},
  numbers = [],
  hasStrangers,
}: TableShape): EntitySchema<RecordRow> {
  const [id, length] = key
  const isOwn = id === 'user_id'
  const columns: Columns = isOwn
    ? { user_id: { ...OWNER, primary: true } }
    : {
        [id]: { type: String, length, primary: true },
        user_id: hasStrangers ? { ...OWNER, nullable: true } : OWNER,
      }
  for (const [each, most] of Object.entries(texts))
    columns[each] = { type: String, length: most, nullable: true }
  for (const each of numbers) columns[each] = { ...MILLISECONDS, nullable: true }
  for (const each of COMMON_NUMBERS) columns[each] = MILLISECONDS
  return entitySchema<RecordRow>({
    name,
    columns,
    indices: [...(isOwn ? [] : [{ columns: ['user_id'] }]), { columns: ['expires_at'] }],
  })
}
