import type { Socket } from 'node:net'
import {
  canWatchMysql,
  type MysqlInsides,
  openSocket,
  socketOf,
  type StreamRequest,
} from '../compat/mysql2.ts'
import { closeLate } from './close-late.ts'
import { createLink, HIDDEN, type Identity, type Link } from './link.ts'
import { type Attempt, lend, type Lender, takeInTime } from './lend.ts'
import {
  begin,
  ESCAPES,
  inUtc,
  IS_MARIADB,
  settingsOf,
  type TimeOptions,
  withoutPool,
} from './mysql-session.ts'
import type { PoolLimits } from './pool-limits.ts'
import { noticingReadOnly, REFUSE_WRITES } from './read-only.ts'
import { type ProbeAnswer, SilenceWatch } from './silence-watch.ts'
import { markUnavailable } from './unavailable.ts'

/** The parts of the package `mysql2` that are used here. */
export interface MysqlModule {
  createPool(options: MysqlOptions): MysqlPool
  createConnection(options: MysqlOptions): MysqlConnection
}

interface MysqlOptions extends TimeOptions {
  readonly connectTimeout?: number
  readonly stream?: unknown
}

type Borrower = (error: Error | null, connection?: MysqlConnection) => void

interface MysqlPool {
  getConnection(callback: Borrower): unknown
  end(callback?: (error?: Error | null) => void): unknown
  on(event: 'connection', listener: (connection: MysqlConnection) => void): unknown
}

interface MysqlConnection extends MysqlInsides {
  readonly threadId: number | null
  query(...args: readonly unknown[]): MysqlCommand
  execute(...args: readonly unknown[]): MysqlCommand
  on(event: 'error', listener: () => void): unknown
  release(): void
  destroy(): void
}

interface MysqlCommand {
  once(event: 'end', listener: () => void): unknown
}

/** Names one server, because session numbers mean nothing on another. */
const IDENTIFY =
  "SELECT CONNECTION_ID() AS session, CONCAT(@@hostname, ' ', @@port, ' ', @@server_id) AS server, " +
  IS_MARIADB

interface Session extends Identity {
  readonly isMariaDb: number
}

/** Milliseconds that a probe, and the opening of a connection where no option says it, may take. */
const PROBE_TIMEOUT = 2000
const CONNECT_TIMEOUT = 10_000

/**
 * Makes the module `mysql2` with pools that end silent connections, lend only connections that work, and do not let a
 * caller wait forever. TypeORM makes its pool from it. The clusters of its option `replication` are not watched.
 */
export function withWatchedPool(mysql: MysqlModule, limits: PoolLimits): MysqlModule {
  const make = canWatchMysql(mysql) ? watchedPool : plainPool
  const createPool = (options: MysqlOptions): MysqlPool => make(mysql, inUtc(options), limits)
  // Other bricks open connections beside the pool.
  const createConnection = (options: MysqlOptions): MysqlConnection => {
    const connection = mysql.createConnection(options)
    begin(connection, [ESCAPES, ...(limits.refusesWrites() ? [REFUSE_WRITES] : [])])
    return connection
  }
  const own = (value: unknown): PropertyDescriptor => ({ value, enumerable: true })
  return Object.create(mysql, { createPool: own(createPool), createConnection: own(createConnection) })
}

/** A pool without the watch and without a limit of its statements; its sessions are in UTC. */
function plainPool(mysql: MysqlModule, options: MysqlOptions, limits: PoolLimits): MysqlPool {
  const pool = mysql.createPool(options)
  pool.on('connection', (connection) =>
    begin(connection, settingsOf(options, undefined, limits.refusesWrites())(false)),
  )
  const take = pool.getConnection.bind(pool)
  pool.getConnection = (callback) =>
    takeInTime(take, limits, (error, connection) =>
      callback(error && markUnavailable(error, 'database_unavailable'), connection),
    )
  return pool
}

function watchedPool(mysql: MysqlModule, options: MysqlOptions, limits: PoolLimits): MysqlPool {
  const watch = new SilenceWatch({
    probe: (sessions) => probe(mysql.createConnection(withoutPool(options)), sessions),
    silence: limits.silence,
    connectTimeout: options.connectTimeout ?? CONNECT_TIMEOUT,
  })
  limits.onPool(watch)
  const links = new WeakMap<Socket, Link>()
  const stream = options.stream ?? ((given: StreamRequest) => openWatched(given, watch, links))
  const pool = mysql.createPool({ ...options, stream })
  const take = pool.getConnection.bind(pool)
  const linkOf = (connection: MysqlConnection): Link => links.get(socketOf(connection))!
  pool.on('connection', (connection) => watchConnection(connection, watch, links))
  const lender: Lender<MysqlConnection> = {
    watch,
    poolTimeout: limits.poolTimeout,
    take: () =>
      new Promise<Attempt<MysqlConnection>>((done) => {
        take((error, connection) => done({ error, connection }))
      }),
    linkOf,
    check: (connection) =>
      check(
        connection,
        linkOf(connection),
        settingsOf(options, limits.statementTimeout(), limits.refusesWrites()),
      ),
    giveBack: (connection) => connection.release(),
    drop: (connection) => drop(connection),
  }
  pool.getConnection = (callback) => lendFrom(take, lender, callback)
  const end = pool.end.bind(pool)
  pool.end = (callback) => {
    for (const link of watch.links) closeLate(link)
    return end(callback)
  }
  return pool
}

function lendFrom(
  take: MysqlPool['getConnection'],
  lender: Lender<MysqlConnection>,
  callback: Borrower,
): void {
  const began = performance.now()
  takeInTime(take, lender, (error, connection) => {
    if (connection && lender.watch.trust(lender.linkOf(connection)) === 'fresh') callback(null, connection)
    else void lend(lender, { error, connection }, began, callback)
  })
}

/** Opens the socket, so that the watch also sees a connection that is being opened. */
function openWatched(given: StreamRequest, watch: SilenceWatch, links: WeakMap<Socket, Link>): Socket {
  const socket = openSocket(given)
  const link = createLink(() => socket)
  links.set(socket, link)
  watch.add(link)
  return socket
}

function watchConnection(
  connection: MysqlConnection,
  watch: SilenceWatch,
  links: WeakMap<Socket, Link>,
): void {
  const stream = socketOf(connection)
  let link = links.get(stream)
  if (link === undefined) {
    links.set(stream, (link = createLink(() => stream)))
    watch.add(link)
  }
  watch.answered(link)
  // The pool listens once, and an error after that would end the process.
  connection.on('error', () => undefined)
  let due = 0
  for (const name of ['query', 'execute'] as const) {
    const original = connection[name].bind(connection)
    connection[name] = (...args) => {
      due++
      watch.asked(link)
      const end = once(() => {
        if (--due === 0) watch.answered(link)
      })
      const command = original(...noticingReadOnly(args, () => watch.retire(link), end))
      // A statement without a callback is a stream.
      command.once('end', end)
      return command
    }
  }
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}

/** Closes the socket too: `destroy()` waits for the other side to close it. */
function drop(connection: MysqlConnection): void {
  connection.destroy()
  socketOf(connection).destroy()
}

async function check(
  connection: MysqlConnection,
  link: Link,
  settings: (isMariaDb: boolean) => readonly string[],
): Promise<void> {
  const [row] = await rowsOf(connection, IDENTIFY)
  const { session, server, isMariaDb } = row as Session
  if (link.identity === undefined)
    for (const setting of settings(isMariaDb === 1)) await rowsOf(connection, setting)
  link.identity = session === connection.threadId ? { session: session, server } : HIDDEN
}

/** `SHOW PROCESSLIST` lists the user's own sessions without a privilege. */
async function probe(connection: MysqlConnection, sessions: readonly number[]): Promise<ProbeAnswer> {
  const timer = setTimeout(() => drop(connection), PROBE_TIMEOUT)
  connection.on('error', () => undefined)
  try {
    const [row] = await rowsOf(connection, IDENTIFY)
    const { session, server } = row as Session
    const list = (await rowsOf(connection, 'SHOW PROCESSLIST')) as { Id: unknown; Command: unknown }[]
    const working = list.filter(({ Command }) => Command !== 'Sleep').map(({ Id }) => Number(Id))
    return {
      server: session === connection.threadId ? server : undefined,
      working: new Set(working.filter((id) => sessions.includes(id))),
    }
  } finally {
    clearTimeout(timer)
    drop(connection)
  }
}

function rowsOf(connection: MysqlConnection, sql: string): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) => {
    const stream = socketOf(connection)
    const lost = (): void => reject(new Error('The connection was closed.'))
    stream.once('close', lost)
    connection.query(sql, (error: Error | null, rows: readonly unknown[]) => {
      stream.off('close', lost)
      if (error) reject(error)
      else resolve(rows)
    })
  })
}
