import { AsyncLocalStorage } from 'node:async_hooks'
import { createRefresh, type Refresh } from '../../../../plugins/auth/flows/refresh.ts'
import type { AuthParts } from '../../../../plugins/auth/flows/parts.ts'
import { deriveKeys } from '../../../../plugins/auth/tokens/keys.ts'
import { createRefreshTokens } from '../../../../plugins/auth/tokens/refresh-tokens.ts'
import type { Budget, Choice, Exchange } from './rotation-exchange.ts'
import type { StoredSession, StoredUser } from '@mortar/auth'

const KEYS = deriveKeys('a secret of the model that is long enough for anything')
const USER: StoredUser = {
  id: 'user',
  name: 'Ada',
  email: 'ada@example.com',
  passwordHash: null,
  passwordVersion: 0,
  keptSession: null,
  isDisabled: false,
  raw: {},
}
/** The exchange whose code runs; one for all runs, since each storage slows down every promise. */
const acting = new AsyncLocalStorage<Exchange>()
const THIEF = -1
const SESSION = { id: 'session', userId: USER.id, passwordVersion: 0, previousHash: null }
/** More than the flow awaits between two statements. */
const MOST_AWAITS = 30
/** Milliseconds that each choice takes: more than the error of measuring an arrival, and all of a run within the grace. */
const STEP = 10

/** One run of the model: the real flow over one session, moved on by choices. */
export class ModelRun {
  private readonly tokens = createRefreshTokens({ keys: KEYS })
  private readonly first = this.tokens.issue()
  private readonly exchanges: Exchange[] = []
  private readonly refreshes: Refresh[]
  private readonly budget: Budget
  private readonly successors = new Map<string, Set<string>>()
  private session: StoredSession | null
  private jar = this.first.token
  private time = 1_000_000
  private generation = 0

  constructor(budget: Budget) {
    const { hash: tokenHash, familyHash } = this.first
    this.budget = budget
    const dates = { createdAt: this.time, rotatedAt: this.time, expiresAt: this.time + 86_400_000 }
    this.session = { ...SESSION, ...dates, familyHash, tokenHash }
    this.refreshes = Array.from({ length: budget.processes }, () => createRefresh(this.parts()))
  }

  /** Everything that may happen next. */
  choices(): Choice[] {
    return [...this.exchanges.keys()].flatMap((index) => this.fates(index)).concat(this.requests())
  }

  private fates(index: number): Choice[] {
    const { state, release, tab } = this.exchanges[index]!
    const isHonest = tab !== THIEF
    const fates: Choice[] = release ? [['statement', index]] : []
    if (isHonest && state === 'running') fates.push(['abort', index])
    if (isHonest && release && this.budget.crashes) fates.push(['crash', index])
    return fates
  }

  private requests(): Choice[] {
    const { tabs, exchanges, theft = Infinity } = this.budget
    const isFree = (tab: number) =>
      !this.exchanges.some((each) => each.tab === tab && each.state === 'running')
    const honest = this.exchanges.filter(({ tab }) => tab !== THIEF).length
    const asking = honest < exchanges ? Array.from({ length: tabs }, (_, tab) => tab).filter(isFree) : []
    if (this.generation >= theft && this.session !== null && isFree(THIEF)) asking.push(THIEF)
    return asking.map((tab) => ['ask', tab] as const)
  }

  /** Makes the nth of the choices happen. */
  async take(choice: number): Promise<void> {
    const [kind, number] = this.choices()[choice]!
    this.time += STEP
    if (kind === 'ask') this.ask(number)
    else if (kind === 'statement') this.exchanges[number]!.release!()
    else this.strike(this.exchanges[number]!, kind)
    for (let turn = 0; turn < MOST_AWAITS; turn++) await Promise.resolve()
  }

  /** Equal for two runs that can only go on in the same ways. */
  key(): string {
    const places = new Map<string, number>()
    const place = (text: unknown) => places.get(String(text)) ?? places.set(String(text), places.size).size
    const exchanges = this.exchanges.map(({ tab, token, generation, known, state, next, outcome }) =>
      [tab, place(token), generation, known.map(place), state, next, place(outcome)].join(),
    )
    const { tokenHash = '', previousHash = '' } = this.session ?? {}
    return [place(tokenHash), place(previousHash), this.generation, place(this.jar), ...exchanges].join('|')
  }

  /** @throws Error when the run has broken a promise; asks once more with what the honest client has at the end. */
  async check(): Promise<void> {
    const stolen = this.exchanges.some(({ tab }) => tab === THIEF)
    for (const { tab, outcome } of this.exchanges) {
      if (tab === THIEF && typeof outcome === 'string') throw this.broken('a thief got a token')
      if (tab !== THIEF && !stolen && outcome === 401) throw this.broken('an honest exchange was refused')
    }
    for (const tokens of this.successors.values())
      if (tokens.size > 1) throw this.broken('one predecessor has two successors')
    if (stolen && this.session !== null) throw this.broken('a session outlived a theft')
    if (!stolen) await this.checkHonestClient()
  }

  private async checkHonestClient(): Promise<void> {
    const before = this.exchanges.length
    this.ask(0)
    const last = this.exchanges[before]!
    for (let turn = 0; turn < 20 && last.state === 'running'; turn++) {
      last.release?.()
      for (let each = 0; each < MOST_AWAITS; each++) await Promise.resolve()
    }
    if (last.state !== 'answered') throw this.broken(`the honest client ends with ${last.outcome}`)
    if (this.tokens.hashes(last.outcome)?.hash !== this.session?.tokenHash)
      throw this.broken('the honest client holds a token that is not the current one')
  }

  private broken(what: string): Error {
    return new Error(`${what}: ${this.key()}`)
  }

  private ask(tab: number): void {
    const exchange: Exchange = {
      tab,
      process: this.exchanges.length % this.refreshes.length,
      token: tab === THIEF ? this.first.token : this.jar,
      generation: this.generation,
      abort: new AbortController(),
      known: [],
      state: 'running',
      release: undefined,
      next: undefined,
      outcome: undefined,
    }
    const refresh = this.refreshes[exchange.process]!
    this.exchanges.push(exchange)
    // A thief waits for the response. Without a signal the flow need not wait for the end of the connection.
    const signal = tab === THIEF ? {} : { signal: exchange.abort.signal }
    const caller = { id: '', ip: '', set: () => {}, ...signal }
    acting
      .run(exchange, () => refresh(exchange.token, caller))
      .then(
        ({ refreshToken }) => this.settle(exchange, 'answered', refreshToken),
        (error: { status?: number }) => this.settle(exchange, 'refused', error.status ?? String(error)),
      )
  }

  private settle(exchange: Exchange, state: 'answered' | 'refused', outcome: string | number): void {
    if (typeof outcome === 'string' && state === 'answered') this.note(exchange.token, outcome)
    exchange.outcome = outcome
    if (exchange.state !== 'running') return
    exchange.state = state
    if (state === 'answered' && exchange.tab !== THIEF) this.jar = String(outcome)
  }

  private note(token: string, next: string): void {
    const known = this.successors.get(token) ?? new Set()
    this.successors.set(token, known.add(next))
  }

  private strike(exchange: Exchange, fate: 'abort' | 'crash'): void {
    exchange.state = fate === 'abort' ? 'aborted' : 'crashed'
    exchange.abort.abort()
    if (fate === 'abort') return
    exchange.release = undefined
    // The process starts again, and knows nothing of what ran.
    this.refreshes[exchange.process] = createRefresh(this.parts())
  }

  /** A statement runs when the search releases it, and its exchange knows the result. */
  private statement<Result>(name: string, run: () => Result): Promise<Result> {
    const exchange = acting.getStore()!
    return new Promise((resolve) => {
      exchange.next = name
      exchange.release = () => {
        exchange.release = exchange.next = undefined
        const result = run()
        exchange.known.push(
          name,
          typeof result === 'object' ? JSON.stringify(hashesOf(result)) : String(result),
        )
        resolve(result)
      }
    })
  }

  /** Only what the refresh flow uses. */
  private parts(): AuthParts {
    const rotate = ({ from, to }: { from: string; to: string }): boolean => {
      if (this.session?.tokenHash !== from) return false
      this.generation += 1
      this.session = { ...this.session, tokenHash: to, previousHash: from, rotatedAt: this.time }
      return true
    }
    const parts = {
      refreshTokens: this.tokens,
      features: [],
      lifetimes: { access: 900, session: 86_400, resetToken: 1800, grace: 10 },
      clock: { now: () => this.time },
      rotations: {
        stamp: () => undefined,
        now: async () => this.time,
        roughly: () => this.time,
        startedAt: () => {
          const start = this.time
          return () => start
        },
      },
      limits: { attempt: async () => ({ headers: {} }) },
      events: { emit: () => true },
      endedSessions: { end: () => {}, has: () => false, isComplete: () => true, expiry: () => 0 },
      accessTokens: { sign: () => ({ token: '', expiresIn: 900 }) },
      logger: { warn: () => {} },
      store: {
        findSession: () => this.statement('session', () => this.session),
        // The user never changes here, so the order of this statement makes no difference.
        findUserById: async () => USER,
        rotateSession: (rotation: { from: string; to: string }) =>
          this.statement('rotate', () => rotate(rotation)),
        publishEnded: async () => {},
        hasEnded: async () => false,
        deleteSession: () => this.statement('delete', () => void (this.session = null)),
      },
    }
    return parts as unknown as AuthParts
  }
}

function hashesOf(result: object | null): unknown {
  const { tokenHash, previousHash } = (result ?? {}) as Partial<StoredSession>
  return { tokenHash, previousHash, isThere: result !== null }
}
