/* Workload m with TypeORM as its documentation shows it: an entity and `findAndCount`. */
import { EntitySchema } from 'typeorm'

/** The columns of the reference application's entity. */
export const Notes = new EntitySchema({
  name: 'notes',
  columns: {
    id: { type: String, length: 36, primary: true },
    owner_id: { type: String, length: 255 },
    title: { type: String, length: 200 },
    text: { type: 'text' },
    archived: { type: Boolean, default: false },
    created_at: { type: Date, precision: 3 },
    updated_at: { type: Date, precision: 3 },
  },
})

/** Options of a `DataSource`. */
export function sourceOptions(database, url) {
  const connection =
    database === 'sqlite'
      ? { type: 'better-sqlite3', database: url.slice('sqlite:'.length) }
      : { type: 'postgres', url }
  return { ...connection, entities: [Notes] }
}

/** @returns `{ notes, total }` */
export async function listNotes(repository, owner, { archived, limit, offset }) {
  const [notes, total] = await repository.findAndCount({
    where: { owner_id: owner, archived },
    order: { created_at: 'DESC', id: 'ASC' },
    take: limit,
    skip: offset,
  })
  return { notes, total }
}
