/** Kind of a statement, on any database. */
export type Statement =
  `${'select' | 'insert' | 'update' | 'delete'} ${'users' | 'sessions' | 'reset tokens' | 'ended sessions'}`

/** Action of another request beside a statement. */
interface Meanwhile {
  readonly statement: Statement
  readonly act: () => Promise<unknown>
}

/** Interruptions of statements: the process or database dies before one, or another request runs before or after it. */
export class Interruptions {
  private count = 0
  private lost: number | undefined
  private failing: (statement: number) => boolean = () => false
  private awaited: Meanwhile | undefined
  private awaitedAfter: Meanwhile | undefined
  /** Awaited before each statement. */
  gate: (statement: Statement | undefined) => Promise<void> | undefined = () => undefined

  /** Makes the nth statement from now fail. @returns functions to repair it and to ask if it was reached. */
  failAt(statement: number): { restore: () => void; reached: () => boolean } {
    this.count = 0
    this.failing = (number) => number === statement
    return { restore: () => (this.failing = () => false), reached: () => this.count >= statement }
  }

  /** Ends the process before the nth statement from now: that and every later one fails. */
  failFrom(statement: number): { restore: () => void; reached: () => boolean } {
    const fault = this.failAt(statement)
    this.failing = (number) => number >= statement
    return fault
  }

  /** Loses the reply of the nth statement from now, which has its effect. @returns the same functions. */
  loseReply(statement: number): { restore: () => void; reached: () => boolean } {
    this.count = 0
    this.lost = statement
    return { restore: () => (this.lost = undefined), reached: () => this.count >= statement }
  }

  /** Every statement from now on fails. */
  failAlways(): void {
    this.failing = () => true
  }

  /** Does something just before the next statement of a kind, as another request might. */
  meanwhile(statement: Statement, act: () => Promise<unknown>): void {
    this.awaited = { statement, act }
  }

  /** Lets the next statements of a kind fail with this reason. */
  reject(statement: Statement, reason: string, times: number): void {
    this.meanwhile(statement, () => {
      if (times > 1) this.reject(statement, reason, times - 1)
      return Promise.reject(new Error(reason))
    })
  }

  /** Does something just after the next statement of a kind, before its caller knows the result. */
  afterwards(statement: Statement, act: () => Promise<unknown>): void {
    this.awaitedAfter = { statement, act }
  }

  /** @throws Error when a statement that a test waits for has not come: the test would have shown nothing. */
  assertHappened(): void {
    const waiting = this.awaited ?? this.awaitedAfter
    if (waiting) throw new Error(`There was no statement '${waiting.statement}' to interrupt.`)
  }

  /** Called before each statement. */
  async pass(statement: Statement | undefined): Promise<void> {
    await this.gate(statement)
    this.count += 1
    if (this.failing(this.count)) throw new Error('disk I/O error')
    if (this.awaited === undefined || this.awaited.statement !== statement) return
    const { act } = this.awaited
    this.awaited = undefined
    await act()
  }

  /** Called before a statement that no request waits for. It is not counted, but fails in a process that died. */
  passBeside(): void {
    // Between two numbers, so that only a fault with a duration concerns it.
    if (this.failing(this.count + 0.5)) throw new Error('disk I/O error')
  }

  /** Called after each statement. */
  async passed(statement: Statement | undefined): Promise<void> {
    if (this.count === this.lost) {
      this.lost = undefined
      throw new Error('connection lost')
    }
    if (this.awaitedAfter === undefined || this.awaitedAfter.statement !== statement) return
    const { act } = this.awaitedAfter
    this.awaitedAfter = undefined
    await act()
  }
}

/** A statement by its verb and its table or collection; undefined for one of another kind. */
export function statementOf(verb: string, table: string): Statement | undefined {
  const what = {
    auth_users: 'users',
    auth_refresh_tokens: 'sessions',
    auth_reset_tokens: 'reset tokens',
    auth_ended_sessions: 'ended sessions',
  }[table]
  return what === undefined ? undefined : (`${verb} ${what}` as Statement)
}
