/* Workload m with Drizzle as its documentation shows it: a table, a query builder, `$count`. */
import { and, asc, desc, eq } from 'drizzle-orm'

/** @returns a function that lists the notes of an owner: `(owner, { archived, limit, offset })` to `{ notes, total }` */
export async function openNotes(database, url) {
  const { db, notes } = database === 'sqlite' ? await openSqlite(url) : await openPostgres(url)
  const { id, title, text, archived, created_at, updated_at } = notes
  const columns = { id, title, text, archived, created_at, updated_at }
  return async (owner, filter) => {
    const mine = and(eq(notes.owner_id, owner), eq(notes.archived, filter.archived))
    const rows = db
      .select(columns)
      .from(notes)
      .where(mine)
      .orderBy(desc(created_at), asc(id))
      .limit(filter.limit)
      .offset(filter.offset)
    const [found, total] = await Promise.all([rows, db.$count(notes, mine)])
    return { notes: found, total }
  }
}

async function openSqlite(url) {
  const [{ drizzle }, { customType, integer, sqliteTable, text }, { default: Sqlite }] = await Promise.all([
    import('drizzle-orm/better-sqlite3'),
    import('drizzle-orm/sqlite-core'),
    import('better-sqlite3'),
  ])
  // The column holds text, and Drizzle's own times of SQLite are numbers.
  const time = customType({
    dataType: () => 'datetime',
    fromDriver: (value) => new Date(`${String(value)}Z`),
  })
  const notes = sqliteTable('notes', {
    id: text().primaryKey(),
    owner_id: text().notNull(),
    title: text().notNull(),
    text: text().notNull(),
    archived: integer({ mode: 'boolean' }).notNull(),
    created_at: time().notNull(),
    updated_at: time().notNull(),
  })
  return { db: drizzle({ client: new Sqlite(url.slice('sqlite:'.length)) }), notes }
}

async function openPostgres(url) {
  const [{ drizzle }, { boolean, pgTable, text, timestamp, varchar }] = await Promise.all([
    import('drizzle-orm/node-postgres'),
    import('drizzle-orm/pg-core'),
  ])
  const notes = pgTable('notes', {
    id: varchar({ length: 36 }).primaryKey(),
    owner_id: varchar({ length: 255 }).notNull(),
    title: varchar({ length: 200 }).notNull(),
    text: text().notNull(),
    archived: boolean().notNull(),
    created_at: timestamp({ precision: 3 }).notNull(),
    updated_at: timestamp({ precision: 3 }).notNull(),
  })
  return { db: drizzle(url), notes }
}
