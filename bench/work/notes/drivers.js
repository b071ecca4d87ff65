/*
 * Workload m with the bare drivers, better-sqlite3 and pg: two statements prepared once, rows mapped by hand. For raw
 * node:http and for Fastify.
 */
const COLUMNS = 'id, title, text, archived, created_at, updated_at'

/** @returns a function that lists the notes of an owner: `(owner, { archived, limit, offset })` to `{ notes, total }` */
export async function openNotes(database, url) {
  return database === 'sqlite' ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url)
}

async function openSqlite(file) {
  const { default: Sqlite } = await import('better-sqlite3')
  const db = new Sqlite(file)
  const select = db.prepare(
    `select ${COLUMNS} from notes where owner_id = ? and archived = ? order by created_at desc, id limit ? offset ?`,
  )
  const count = db.prepare('select count(*) from notes where owner_id = ? and archived = ?').pluck()
  return (owner, { archived, limit, offset }) => {
    const flag = archived ? 1 : 0
    const notes = select.all(owner, flag, limit, offset).map(noteOf)
    return { notes, total: count.get(owner, flag) }
  }
}

function noteOf({ id, title, text, archived, created_at, updated_at }) {
  return {
    id,
    title,
    text,
    archived: archived === 1,
    created_at: new Date(`${created_at}Z`),
    updated_at: new Date(`${updated_at}Z`),
  }
}

async function openPostgres(connectionString) {
  const { Pool } = await import('pg')
  const pool = new Pool({ connectionString })
  const select = {
    name: 'list',
    text: `select ${COLUMNS} from notes where owner_id = $1 and archived = $2 order by created_at desc, id limit $3 offset $4`,
  }
  const count = {
    name: 'count',
    text: 'select count(*)::int as total from notes where owner_id = $1 and archived = $2',
  }
  return async (owner, { archived, limit, offset }) => {
    const [{ rows: notes }, { rows }] = await Promise.all([
      pool.query({ ...select, values: [owner, archived, limit, offset] }),
      pool.query({ ...count, values: [owner, archived] }),
    ])
    return { notes, total: rows[0].total }
  }
}
