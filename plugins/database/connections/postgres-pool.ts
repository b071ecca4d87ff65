import { ignore } from 'mortar/kit'
import { canWatchPg, hasSession, type PgInsides, socketOf, withSettings } from '../compat/pg.ts'
import { closeLate } from './close-late.ts'
import { createLink, HIDDEN, type Identity, type Link } from './link.ts'
import { asNoConnection, lend, type Lender } from './lend.ts'
import type { PoolLimits } from './pool-limits.ts'
import { type PgTypes, UTC_SESSION, utcTypes, withUtcDates } from './postgres-instants.ts'
import { noticeReadOnly, READ_ONLY_SESSION } from './read-only.ts'
import { type ProbeAnswer, SilenceWatch } from './silence-watch.ts'
import { markUnavailable } from './unavailable.ts'

/** The parts of the package `pg` that are used here. */
export interface PgModule {
  readonly Pool: new (options: PgOptions) => PgPool
  readonly Client: new (options: PgOptions) => PgClient
  readonly types: PgTypes
}

interface PgOptions {
  readonly connectionTimeoutMillis?: number | undefined
  readonly types?: PgTypes
}

type Borrower = (error: Error | undefined, client: PgClient | undefined, release: PgClient['release']) => void

interface PgPool {
  connect(callback: Borrower): unknown
}

interface PgClient extends PgInsides {
  release(error?: Error): void
  connect(callback: (error: Error | null | undefined) => void): unknown
  on(event: string, listener: () => void): unknown
  end(...args: readonly unknown[]): unknown
  query(...args: readonly unknown[]): Promise<{ readonly rows: readonly Session[] }>
}

interface Session extends Identity {
  readonly working: readonly number[]
}

/** Names one start of one server, because session numbers mean nothing on another. */
const IDENTIFY =
  'SELECT pg_backend_pid() AS session, ' +
  "extract(epoch from pg_postmaster_start_time())::text || ' ' || coalesce(inet_server_addr()::text, '') AS server"

/** A session whose state cannot be seen counts as working. */
const PROBE =
  `${IDENTIFY}, ARRAY(SELECT pid FROM pg_stat_activity ` +
  `WHERE pid = ANY($1) AND coalesce(state, '') NOT LIKE 'idle%') AS working`

/** Milliseconds that a probe may take. */
const PROBE_TIMEOUT = 2000

/** Milliseconds that the opening of a connection may take where no option says it. */
const CONNECT_TIMEOUT = 10_000

/**
 * Makes the module `pg` with a pool that ends silent connections, lends only connections that work, and writes and reads
 * instants in UTC. TypeORM makes its pools from it.
 */
export function withWatchedPool(pg: PgModule, limits: PoolLimits): PgModule {
  const pool = canWatchPg(pg) ? watchedPool(pg, limits) : plainPool(pg, limits)
  // The original object keeps `native`, a getter that would load pg-native.
  return Object.create(pg, { Pool: { value: pool, enumerable: true } }) as PgModule
}

/** A pool with the limits and without the watch. */
function plainPool(pg: PgModule, limits: PoolLimits): PgModule['Pool'] {
  return class PlainPool extends pg.Pool {
    constructor(options: PgOptions) {
      super(withDefaults(options, limits, { Client: utcClient(pg, limits) }))
    }

    override connect(callback?: Borrower): Promise<PgClient> | undefined {
      if (callback === undefined)
        return new Promise((resolve, reject) => {
          void this.connect((error, client) => (error ? reject(error) : resolve(client!)))
        })
      super.connect((error, ...lent) => {
        const failure = asNoConnection(error, limits)
        callback(failure && markUnavailable(failure, 'database_unavailable'), ...lent)
      })
      return undefined
    }
  }
}

function watchedPool(pg: PgModule, limits: PoolLimits): PgModule['Pool'] {
  return class WatchedPool extends pg.Pool {
    readonly #lender: Lender<PgClient>

    constructor(options: PgOptions) {
      const { connectionTimeoutMillis: connectTimeout = CONNECT_TIMEOUT } = options
      const watch = new SilenceWatch({
        probe: (sessions) => probe(new pg.Client(options), sessions),
        silence: limits.silence,
        connectTimeout,
      })
      limits.onPool(watch)
      const links = new WeakMap<PgClient, Link>()
      super(withDefaults(options, limits, { Client: watchedClient(pg, limits, { watch, links }) }))
      this.#lender = {
        watch,
        poolTimeout: limits.poolTimeout,
        take: () =>
          new Promise((done) => {
            super.connect((error, connection) => done({ error, connection }))
          }),
        linkOf: (client) => links.get(client)!,
        check: (client) => check(client, links.get(client)!),
        giveBack: (client) => client.release(),
        drop: (client) => client.release(new Error('The connection is dead.')),
      }
    }

    override connect(callback?: Borrower): Promise<PgClient> | undefined {
      if (callback === undefined)
        return new Promise((resolve, reject) => {
          this.#lend((error, client) => (error ? reject(error) : resolve(client!)))
        })
      this.#lend(callback)
      return undefined
    }

    /** Uses callbacks, because a promise would cost each query a microsecond. */
    #lend(callback: Borrower): void {
      const lender = this.#lender
      const began = performance.now()
      super.connect((error, client, release) => {
        if (client && lender.watch.trust(lender.linkOf(client)) === 'fresh')
          return callback(undefined, client, release)
        const attempt = { error: asNoConnection(error, lender), connection: client }
        void lend(lender, attempt, began, (reason, lent) =>
          reason
            ? callback(reason, undefined, () => undefined)
            : callback(undefined, lent, (fault) => lent!.release(fault)),
        )
      })
    }
  }
}

function withDefaults(options: PgOptions, limits: PoolLimits, own: object): PgOptions {
  const limit = limits.statementTimeout()
  return {
    keepAlive: true,
    ...(limit !== undefined && { statement_timeout: limit }),
    ...options,
    ...own,
    // The limit of the queue. The watch limits the opening of a connection.
    connectionTimeoutMillis: limits.poolTimeout(),
  } as PgOptions
}

/** A client that writes and reads instants in UTC. */
function utcClient(pg: PgModule, { refusesWrites }: PoolLimits): PgModule['Client'] {
  const types = utcTypes(pg.types)
  const settings = refusesWrites() ? { ...UTC_SESSION, ...READ_ONLY_SESSION } : UTC_SESSION
  return class UtcClient extends withSettings(pg.Client, settings) {
    constructor(options: PgOptions) {
      super({ types, ...options })
      // Between a query of the pool and its next borrower nobody listens, and a server that stops may end it just then.
      this.on('error', ignore)
    }

    override query(...args: readonly unknown[]): ReturnType<PgClient['query']> {
      return super.query(...withUtcDates(args))
    }
  }
}

function watchedClient(
  pg: PgModule,
  limits: PoolLimits,
  { watch, links }: { readonly watch: SilenceWatch; readonly links: WeakMap<PgClient, Link> },
): PgModule['Client'] {
  return class WatchedClient extends utcClient(pg, limits) {
    readonly #link: Link = createLink(() => socketOf(this))

    constructor(options: PgOptions) {
      // The watch limits the opening, and makes another attempt meanwhile.
      super({ ...options, connectionTimeoutMillis: undefined })
      links.set(this, this.#link)
      this.on('drain', () => watch.answered(this.#link))
      noticeReadOnly(this.connection, limits, () => watch.retire(this.#link))
    }

    /** The pool passes a callback. A connection beside the pool, such as that of a brick, awaits a promise. */
    override connect(callback?: (error: Error | null | undefined) => void): unknown {
      if (callback === undefined)
        return new Promise<void>((resolve, reject) => {
          this.connect((error) => (error ? reject(error) : resolve()))
        })
      watch.add(this.#link)
      return super.connect((error) => {
        if (!error) watch.answered(this.#link)
        callback(error)
      })
    }

    override end(...args: readonly unknown[]): unknown {
      closeLate(this.#link)
      return super.end(...args)
    }

    override query(...args: readonly unknown[]): ReturnType<PgClient['query']> {
      watch.asked(this.#link)
      return super.query(...args)
    }
  }
}

/** A database that speaks PostgreSQL's protocol but lacks these functions answers with an error, and so it is alive. */
async function check(client: PgClient, link: Link): Promise<void> {
  try {
    const { rows } = await client.query(IDENTIFY)
    const { session, server } = rows[0]!
    link.identity = hasSession(client, session) ? { session, server } : HIDDEN
  } catch (error) {
    if (!isFromServer(error)) throw error
    link.identity = HIDDEN
  }
}

function isFromServer(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return /^[0-9A-Z]{5}$/.test(String(code)) && !String(code).startsWith('57P')
}

async function probe(client: PgClient, sessions: readonly number[]): Promise<ProbeAnswer> {
  const timer = setTimeout(() => socketOf(client).destroy(), PROBE_TIMEOUT)
  client.on('error', ignore)
  try {
    await new Promise<void>((done, fail) => {
      client.connect((error) => (error ? fail(error) : done()))
    })
    const { rows } = await client.query(PROBE, [sessions])
    const { session, server, working } = rows[0]!
    return { server: hasSession(client, session) ? server : undefined, working: new Set(working) }
  } finally {
    clearTimeout(timer)
    socketOf(client).destroy()
  }
}
