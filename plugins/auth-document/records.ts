import {
  MOST_RECORDS,
  type RecordRow,
  type Records,
  type TableShape,
  type Where,
} from '@mortar/auth/provider'
import { createRun, type Document, type DocumentDatabase } from './connection.ts'
import { isDuplicateKey } from './driver-error.ts'

/** The collection of a feature. The key of its table is the `_id`. */
export function documentRecords(
  source: () => DocumentDatabase,
  { name, key: [key] }: TableShape,
  timeout: number,
): Records {
  const run = createRun(source, () => timeout)
  const fieldOf = (column: string): string => (column === key ? '_id' : column)
  const documentOf = (row: RecordRow): Document =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value]))
  const filterOf = (where: Where): Document =>
    Object.fromEntries(Object.entries(where).map(([column, value]) => [fieldOf(column), conditionOf(value)]))

  return {
    async insert(row) {
      try {
        await run(name, (collection) => collection.insertOne(documentOf(row)))
        return true
      } catch (error) {
        if (isDuplicateKey(error)) return false
        throw error
      }
    },
    async find(where, last) {
      const part = last === undefined ? { limit: MOST_RECORDS } : { limit: last, sort: { _id: -1 } }
      const found = await run(name, (collection) => collection.find(filterOf(where), part).toArray())
      return found.map((document) => {
        const { _id: id, ...fields } = document as RecordRow
        return { [key]: id ?? null, ...fields }
      })
    },
    // Every condition names the key, so it meets one document.
    update: async (where, set) => {
      const { matchedCount } = await run(name, (collection) =>
        collection.updateOne(filterOf(where), { $set: documentOf(set) }),
      )
      return matchedCount
    },
    async remove(where) {
      const { deletedCount } = await run(name, (collection) => collection.deleteMany(filterOf(where)))
      return deletedCount
    },
  }
}

/** `$eq`, so that no value is read as an operator. */
function conditionOf(value: Where[string]): Document {
  if (value === null || typeof value !== 'object') return { $eq: value }
  if ('above' in value) return { $gt: value.above }
  if ('below' in value) return { $lt: value.below }
  if ('atMost' in value) return { $lte: value.atMost }
  return 'anyOf' in value ? { $in: value.anyOf } : { $nin: [...value.noneOf, null] }
}
