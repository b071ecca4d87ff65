import type { Document } from 'bson'
import type { Update } from './collection.ts'
import { CommandError } from './command-error.ts'
import type { Clocks, CommandTable } from './command-table.ts'
import type { Index } from './indexes.ts'

/** The commands that change documents, collections and indexes. */
export const WRITE_COMMANDS: CommandTable = {
  insert({ databases }, { insert, documents, ordered, $db }) {
    const collection = databases.write($db, insert)
    return eachWrite(documents, ordered, (document, counts) => {
      collection.insert(document)
      counts.n += 1
    })
  },

  update({ databases, clocks }, { update, updates, ordered, $db }) {
    const upserted: Document[] = []
    const collection = databases.write($db, update)
    const result = eachWrite(updates, ordered, (statement, counts, index) => {
      const { matched, modified, upsertedId } = collection.update(updateOf(statement, clocks))
      counts.n += matched + (upsertedId === undefined ? 0 : 1)
      counts.nModified = (counts.nModified ?? 0) + modified
      if (upsertedId !== undefined) upserted.push({ index, _id: upsertedId })
    })
    return { nModified: 0, ...result, ...(upserted.length > 0 && { upserted }) }
  },

  delete({ databases }, { delete: name, deletes, ordered, $db }) {
    const collection = databases.read($db, name)
    return eachWrite(deletes, ordered, ({ q, limit }, counts) => {
      counts.n += collection.delete(q, limit ? { limit } : {}).length
    })
  },

  findAndModify({ databases, clocks }, command) {
    const { findAndModify, query = {}, sort, fields, remove, update, upsert, new: wantsNew, $db } = command
    const collection = databases.write($db, findAndModify)
    const project = (found: Document | null | undefined): Document | null =>
      found ? collection.project(found, fields) : null
    if (remove) {
      const [removed] = collection.delete(query, { sort, limit: 1 })
      return { lastErrorObject: { n: removed ? 1 : 0 }, value: project(removed), ok: 1 }
    }
    const { arrayFilters } = command
    const change = dated(update, clocks)
    const outcome = collection.update({ filter: query, change, upsert, sort, arrayFilters })
    const { matched, before, after, upsertedId } = outcome
    const isUpsert = upsertedId !== undefined
    return {
      lastErrorObject: {
        n: matched || Number(isUpsert),
        updatedExisting: matched > 0,
        ...(isUpsert && { upserted: upsertedId }),
      },
      value: project(wantsNew ? after : before),
      ok: 1,
    }
  },

  create({ databases }, { create, $db }) {
    if (databases.collections($db).has(create))
      throw new CommandError(48, `Collection ${$db}.${create} already exists.`)
    databases.write($db, create)
    return { ok: 1 }
  },

  createIndexes({ databases }, { createIndexes, indexes, $db }) {
    const collection = databases.write($db, createIndexes)
    const numIndexesBefore = collection.indexes.list().length
    for (const index of indexes as Index[]) collection.indexes.add(index, collection.all())
    return { numIndexesBefore, numIndexesAfter: collection.indexes.list().length, ok: 1 }
  },

  dropIndexes({ databases }, { dropIndexes, index, $db }) {
    const { indexes } = databases.demand($db, dropIndexes)
    const nIndexesWas = indexes.list().length
    for (const name of [index].flat()) indexes.drop(name)
    return { nIndexesWas, ok: 1 }
  },

  drop({ databases }, { drop, $db }) {
    databases.drop($db, drop)
    return { ok: 1 }
  },

  dropDatabase({ databases }, { $db }) {
    databases.drop($db)
    return { dropped: $db, ok: 1 }
  },
}

interface Counts {
  n: number
  nModified?: number
}

/** Does one write after the other; the first that is refused ends them, unless they are unordered. */
function eachWrite(
  statements: readonly Document[],
  ordered: boolean | undefined,
  write: (statement: Document, counts: Counts, index: number) => void,
): Document {
  const counts: Counts = { n: 0 }
  const writeErrors: Document[] = []
  for (const [index, statement] of statements.entries())
    try {
      write(statement, counts, index)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      writeErrors.push({ index, code: error.code, errmsg: error.message, ...error.details })
      if (ordered !== false) break
    }
  return { ...counts, ok: 1, ...(writeErrors.length > 0 && { writeErrors }) }
}

function updateOf({ q, u, multi, upsert, arrayFilters, sort }: Document, clocks: Clocks): Update {
  return { filter: q, change: dated(u, clocks), many: multi, upsert, arrayFilters, sort }
}

/** Replaces `$currentDate` by the date of the database's clock. */
function dated(change: Document, clocks: Clocks): Document {
  const { $currentDate, $set, ...rest } = change
  if ($currentDate === undefined) return change
  const now = new Date(Date.now() + clocks.database)
  const dates = Object.keys($currentDate).map((field) => [field, now])
  return { ...rest, $set: { ...$set, ...Object.fromEntries(dates) } }
}
