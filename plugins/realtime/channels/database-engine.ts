/*
 * A transaction gets its numbers when it begins, or by its inserts, but commits later: a reader that goes on from the highest
 * number would lose it. So an event has no number until its transaction has committed. Then any process numbers it, one at
 * a time: each locks the row `counter` first. What is numbered is therefore visible in the order of its numbers, and
 * a reader that goes on from its last number loses nothing. Test: test/plugins/realtime/channels/engine-contract.test.ts.
 */
import { randomUUID } from 'node:crypto'
import type { Cradle } from 'mortar'
import {
  briefTransaction,
  kindOf,
  missingTable,
  optionalService,
  tableStatements,
  type DataSourceLike,
  type SideConnections,
  type TableStatements,
  type Transaction,
} from 'mortar/kit'
import { membersOf } from './database-members.ts'
import { PAGE, SPARE, type ChannelEngine, type Place, type Reading, type StoredEvent } from './engine.ts'
import { newEpoch } from './memory-engine.ts'
import { fault } from './startup-codes.ts'

/** The tables of `@mortar/realtime/channels/schema`. */
export const TABLES = { events: 'mortar_channel_events', members: 'mortar_channel_members' }

/** Milliseconds between two reads, and for one of them. */
const PAUSE = 250
const DEADLINE = 2000
/** Milliseconds of the first read, and of one after a long pause. */
const FIRST_DEADLINE = 30_000

type Row = Readonly<Record<string, unknown>>

/** Keeps events and users in tables of the database. @throws StartupError `MORTAR_CHANNELS_OPTION` for another kind. */
export function databaseEngine(services: Cradle): ChannelEngine {
  const db = services['db'] as DataSourceLike
  const kind = kindOf(db)
  if (kind === undefined)
    throw fault(
      'MORTAR_CHANNELS_OPTION',
      `Channels cannot use a database of the type '${db.options.type}'.`,
      {
        remedy: 'Use SQLite (better-sqlite3), PostgreSQL, MariaDB or MySQL.',
      },
    )
  const sql = tableStatements(db, { kind, tables: TABLES, of: 'publish' })
  const { run } = sql
  const ids = rowIds()
  const reader = readerOf(services, db, sql)
  const number = (): Promise<void> => briefTransaction(db, (tx) => numberEvents(sql, tx))
  return {
    pause: PAUSE,
    isTransactional: true,
    open: () => open(sql),
    async publish({ channel, event, data, keep }, { tx } = {}) {
      await run(
        `INSERT INTO {events} (id, channel, event, data, seq, added_at, published_at, expires_at)
         VALUES (?, ?, ?, ?, NULL, {now}, 0, ?)`,
        [ids(), channel, event, data, keep + SPARE],
        tx,
      )
    },
    async read(after, channels) {
      let first = await reader.read(after, channels)
      if (first === undefined) {
        // The tables were made after the start.
        await open(sql)
        first = (await reader.read(after, channels))!
      }
      if (channels !== undefined || !first.isPending || first.events.length === PAGE) return first
      await number()
      return (await reader.read(after))!
    },
    async tidy() {
      // By id, because MariaDB locks the events that it looks at, and waits for those of open transactions.
      await sql.deleteRows('{events}', "seq IS NOT NULL AND id <> 'counter' AND expires_at < {now}")
      await run(`DELETE FROM {members} WHERE expires_at < {now} - ${SPARE}`)
    },
    ...membersOf(sql, kind === 'mysql'),
    close: async () => reader.close(),
  }
}

/** Ids of rows in the order of their insertion by this process. */
function rowIds(): () => string {
  const process = randomUUID()
  let count = 0
  return () => `${String(++count).padStart(15, '0')}-${process}`
}

async function open({ run }: TableStatements): Promise<Place> {
  const find = async (): Promise<Place | undefined> => {
    const { records } = await run(
      "SELECT event, seq, published_at, {now} AS now_ms FROM {events} WHERE id = 'counter'",
    )
    const [row] = records
    if (row === undefined) return undefined
    const numbered = Number(row['published_at'])
    const time = Math.max(Number(row['now_ms']), numbered)
    return { epoch: String(row['event']), at: Number(row['seq']), time, numbered }
  }
  try {
    const found = await find()
    if (found !== undefined) return found
    await run('SELECT user_id FROM {members} LIMIT 0')
  } catch (error) {
    if (missingTable(error) === undefined) throw error
    throw fault('MORTAR_CHANNELS_TABLE', `The database has no table '${missingTable(error)}'.`)
  }
  try {
    await run(
      `INSERT INTO {events} (id, channel, event, data, seq, added_at, published_at, expires_at)
       VALUES ('counter', '', ?, '', 0, {now}, {now}, 0)`,
      [newEpoch()],
    )
  } catch (error) {
    const other = await find()
    if (other === undefined) throw error
    return other
  }
  return (await find())!
}

/** Gives numbers to committed events, after those that have some. */
async function numberEvents({ run, rowsById }: TableStatements, tx: Transaction): Promise<void> {
  // A write, because SQLite and MariaDB fix what a transaction sees with its first read.
  await run("UPDATE {events} SET seq = seq WHERE id = 'counter'", [], tx)
  const [counter] = (
    await run("SELECT seq, published_at, {now} AS now_ms FROM {events} WHERE id = 'counter'", [], tx)
  ).records
  const { records } = await run(
    `SELECT id FROM {events} WHERE seq IS NULL ORDER BY added_at, id LIMIT ${PAGE}`,
    [],
    tx,
  )
  if (records.length === 0) return
  const from = Number(counter!['seq'])
  const time = Math.max(Number(counter!['published_at']), Number(counter!['now_ms']))
  const cases = records.map((_, index) => `WHEN ? THEN ${from + index + 1}`).join(' ')
  const ids = records.map(({ id }) => id)
  await run(
    rowsById('{events}', ids).update(
      `seq = CASE id ${cases} END, published_at = ${time}, expires_at = expires_at + ${time}`,
    ),
    [...ids, ...ids],
    tx,
  )
  await run(
    `UPDATE {events} SET seq = ${from + ids.length}, published_at = ${time} WHERE id = 'counter'`,
    [],
    tx,
  )
}

/** Events, and whether others wait for their numbers. */
type Numbered = Reading & { readonly isPending: boolean }

interface Reader {
  read(...given: Parameters<ChannelEngine['read']>): Promise<Numbered | undefined>
  close(): void
}

/** Reads on a connection beside the pool, if there is one: a full pool must not delay the events. */
function readerOf(services: Cradle, db: DataSourceLike, { build, run }: TableStatements): Reader {
  const beside = optionalService<SideConnections>(services, 'sideConnections')
  let limit = FIRST_DEADLINE
  const side = beside?.open(db, { deadline: () => limit })
  return {
    async read(after, channels) {
      const among = channels === undefined ? '' : `AND e.channel IN (${channels.map(() => '?').join(', ')})`
      const text = `SELECT head.event AS epoch, head.seq AS head_seq, head.published_at AS head_time, {now} AS now_ms,
          (SELECT count(*) FROM {events} pending WHERE pending.seq IS NULL) AS pending,
          (SELECT last.published_at FROM {events} last WHERE last.seq <= ? ORDER BY last.seq DESC LIMIT 1) AS last_time,
          e.seq AS seq, e.channel AS channel, e.event AS event, e.data AS data, e.published_at AS published_at
        FROM {events} head
        LEFT JOIN {events} e ON e.seq > ? AND e.seq <= head.seq AND e.id <> 'counter' ${among}
        WHERE head.id = 'counter' ORDER BY e.seq LIMIT ${PAGE}`
      const values = [after.at, after.at, ...(channels ?? [])]
      const { records } =
        side === undefined || channels !== undefined
          ? await run(text, values)
          : await side.query(build(text), values)
      limit = DEADLINE
      return readingOf(records, after.time)
    },
    close: () => side?.close(),
  }
}

/** Returns undefined if the row `counter` is missing. */
function readingOf(records: readonly Row[], after: number): Numbered | undefined {
  const [head] = records
  if (head === undefined) return undefined
  const events = records.filter(({ seq }) => seq !== null).map((row) => eventOf(row))
  const last = events.length < PAGE ? undefined : events.at(-1)!
  const headTime = Number(head['head_time'])
  return {
    events,
    epoch: String(head['epoch']),
    at: last?.at ?? Number(head['head_seq']),
    time: Math.max(Number(head['now_ms']), headTime),
    numbered: last?.time ?? headTime,
    isPending: Number(head['pending']) > 0,
    isRewritten: Number(head['last_time']) > after,
  }
}

function eventOf(row: Row): StoredEvent {
  const text = (name: string): string => row[name] as string
  return {
    channel: text('channel'),
    event: text('event'),
    data: text('data'),
    at: Number(row['seq']),
    time: Number(row['published_at']),
  }
}
