import { performance } from 'node:perf_hooks'
import { markUnavailable } from './unavailable.ts'
import { HIDDEN, type Link } from './link.ts'

/*
 * Connections can die without a word: a lost node, a NAT entry, a failover. TCP reports that after about 15 minutes, and
 * an option "give up after N seconds without a byte" would have to be longer than the longest report. So the watch asks
 * the server: when a statement has been silent for a second, it opens a second connection, as often as needed until one
 * is accepted. If the server has nothing running for the silent session, its response was lost, and the connection ends.
 * Only where the server cannot tell (it is away, or a pooler hides its sessions), the limit `silence` counts.
 * test/plugins/database/silent-connections.test.ts cuts connections in each state.
 */

/** The server's answer to a probe. */
export interface ProbeAnswer {
  /** The server that answered; undefined if a pooler answered for it. */
  readonly server: string | undefined
  /** The sessions, of those that were asked for, that run a statement. */
  readonly working: ReadonlySet<number>
}

/** Dependencies of a watch. */
export interface WatchOptions {
  /** Opens a connection of its own and asks which of the sessions run a statement. Rejects if there is no response. */
  readonly probe: (sessions: readonly number[]) => Promise<ProbeAnswer>
  /** Milliseconds without a byte after which a connection ends whose server cannot say what it does. */
  readonly silence: () => number
  /** Milliseconds that the opening of a connection may take. */
  readonly connectTimeout: number
}

/** Milliseconds between two looks at the connections, while a response is due. */
const TICK = 250

/** Milliseconds of silence after which the server is asked: for a statement, and for a check or a new connection. */
const SUSPICIOUS = 1000
const SUSPICIOUS_CHECK = 500

/** A large statement is not running before all of it has arrived: milliseconds for each byte of it. */
const PER_BYTE = 1 / 64

/** Milliseconds between two probes without a response, and their largest number at a time. */
const PROBE_PAUSE = 300
const PROBES = 8

/** Longest pause between two probes while the server says that it works on every silent statement. */
const LONGEST_PAUSE = 10_000

/** A connection that was used within this time, in milliseconds, is lent without a check. */
const FRESH = 1000

/** Milliseconds in which the connections of a pool are replaced at most once, because their server cannot write. */
const RETIRE_PAUSE = 1000

/** The error of a connection that the watch has ended. */
export class SilentConnection extends Error {
  override readonly name = 'SilentConnection'
}

/** Watches the connections of one pool, and ends those from which no response will come. */
export class SilenceWatch {
  readonly #options: WatchOptions
  readonly #links = new Set<Link>()
  #timer: NodeJS.Timeout | undefined
  #lastTick = 0
  #probes = 0
  #nextProbe = 0
  /** Connections without a sign of life since then are as dead as the one that was found. */
  #deadSince = -Infinity
  #retiredAt = -Infinity
  /** True from a probe without a response to the next one with a response. */
  #unreachable = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** True while the server answers no probe. */
  get isUnreachable(): boolean {
    return this.#unreachable
  }

  /** The connections that are open. */
  get links(): Iterable<Link> {
    return this.#links
  }

  /** Begins with a connection that is being opened. It is forgotten when its socket closes. */
  add(link: Link): void {
    this.#links.add(link)
    link.socket().once('close', () => this.#links.delete(link))
    this.#start()
  }

  /** Notes that the server owes a response. */
  asked(link: Link): void {
    if (link.askedAt !== undefined) return
    link.askedAt = performance.now()
    link.silentFor = 0
    link.bytesAsked = link.socket().bytesWritten
    this.#start()
  }

  /** Notes that the server owes nothing. */
  answered(link: Link): void {
    link.askedAt = undefined
    link.isCheck = false
    link.connecting = false
    link.doomed = false
    link.heardAt = performance.now()
  }

  /** Returns how far a connection that was not in use can be trusted. */
  trust(link: Link): 'fresh' | 'unknown' | 'dead' {
    if (link.isRetired || link.heardAt < this.#deadSince) return 'dead'
    return link.identity !== undefined && performance.now() - link.heardAt < FRESH ? 'fresh' : 'unknown'
  }

  /**
   * Replaces the connections of the pool as they become free, because one of them leads to a server that accepts no
   * writes: after a failover, a new connection leads to another server.
   */
  retire(link?: Link): void {
    if (link !== undefined) link.isRetired = true
    const now = performance.now()
    if (now - this.#retiredAt < RETIRE_PAUSE) return
    this.#retiredAt = now
    for (const each of this.#links) each.isRetired = true
  }

  #start(): void {
    if (this.#timer !== undefined) return
    this.#lastTick = performance.now()
    this.#timer = setInterval(() => this.#look(), TICK).unref()
  }

  #look(): void {
    const now = performance.now()
    // A process that stood still has not listened, so that time does not count.
    const passed = Math.min(now - this.#lastTick, 2 * TICK)
    this.#lastTick = now
    const waiting = [...this.#links].filter(({ askedAt }) => askedAt !== undefined)
    if (waiting.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const suspects = waiting.filter((link) => !hears(link, passed) && link.silentFor >= patience(link))
    if (suspects.length === 0) return
    for (const link of suspects) if (link.doomed || this.#isTooLong(link)) this.#end(link)
    if (now >= this.#nextProbe && this.#probes < PROBES) void this.#probe(suspects, now)
  }

  #isTooLong({ connecting, silentFor }: Link): boolean {
    return silentFor >= (connecting ? this.#options.connectTimeout : this.#options.silence())
  }

  #end(link: Link): void {
    this.#links.delete(link)
    this.#deadSince = Math.max(this.#deadSince, link.askedAt ?? -Infinity)
    const time = (performance.now() - Math.max(link.askedAt ?? 0, link.heardAt)) / 1000
    const message = `The database connection was silent for ${time.toFixed(1)} s and was closed.`
    link.socket().destroy(markUnavailable(new SilentConnection(message), 'database_unavailable'))
  }

  async #probe(suspects: readonly Link[], now: number): Promise<void> {
    this.#nextProbe = now + PROBE_PAUSE
    this.#probes++
    const before = suspects.map(({ bytesRead, askedAt }) => ({ bytesRead, askedAt }))
    try {
      const sessions = suspects.flatMap(({ identity }) => identity?.session ?? [])
      const answer = await this.#options.probe(sessions)
      this.#unreachable = false
      const silent = suspects.filter(
        (link, index) =>
          link.askedAt === before[index]!.askedAt && link.socket().bytesRead === before[index]!.bytesRead,
      )
      for (const link of silent) this.#judge(link, answer)
      const oldest = Math.max(0, ...silent.map(({ askedAt }) => performance.now() - askedAt!))
      this.#nextProbe =
        performance.now() +
        Math.min(Math.max(SUSPICIOUS, oldest / 10), LONGEST_PAUSE, this.#options.silence() / 3)
    } catch {
      this.#unreachable = true
    } finally {
      this.#probes--
    }
  }

  #judge(link: Link, { server, working }: ProbeAnswer): void {
    const { identity, connecting } = link
    // A later connection was accepted, so this one will not be.
    if (connecting) link.doomed = true
    else if (identity === undefined || identity === HIDDEN || identity.server !== server) return
    else if (working.has(identity.session)) link.silentFor = 0
    else link.doomed = true
  }
}

/** Returns true if bytes have arrived since the last look; otherwise counts the time. */
function hears(link: Link, passed: number): boolean {
  const socket = link.socket()
  const { bytesRead } = socket
  // A reader that has paused its stream is not waiting for the network.
  if (bytesRead === link.bytesRead && !(socket.isPaused() && !link.connecting)) {
    link.silentFor += passed
    return false
  }
  link.bytesRead = bytesRead
  link.heardAt = performance.now()
  link.silentFor = 0
  link.doomed = false
  return true
}

function patience(link: Link): number {
  const { isCheck, connecting, bytesAsked } = link
  if (isCheck || connecting) return SUSPICIOUS_CHECK
  return SUSPICIOUS + (link.socket().bytesWritten - bytesAsked) * PER_BYTE
}
