import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { EndedSessions } from './ended-sessions.ts'
import type { Findings } from './findings.ts'
import type { Call, Outcome, Requests } from './requests.ts'

/** Milliseconds after the first unknown response in which a repeated refresh must succeed; the grace is 10 s. */
const GRACE = 8000
/** Milliseconds before a sign-up or login is repeated; more than 30 a minute are refused. */
const RETRY_AFTER = 3000

/** One user: sign-up, login, refresh and logout as a browser does them, with everything that remains unknown. */
export class Account {
  readonly email: string
  #passwords = [`correct horse ${randomUUID()}`]
  #cookie = ''
  #token = ''
  /** False if an unknown outcome may have ended the session. */
  #alive = false
  readonly #requests: Requests
  readonly #findings: Findings
  readonly #ended: EndedSessions

  constructor(requests: Requests, { findings, ended }: { findings: Findings; ended: EndedSessions }) {
    this.email = `user-${randomUUID()}@example.com`
    this.#requests = requests
    this.#findings = findings
    this.#ended = ended
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}` }
  }

  async signUp(abortAfter?: number): Promise<void> {
    const body = { name: 'Ada', email: this.email, password: this.#passwords[0] }
    const outcome = await this.#requests.send({ method: 'POST', path: '/auth/signup', body, abortAfter })
    if (outcome.status === 201) return this.#begin(outcome)
    if (outcome.status === 409 && abortAfter === undefined) return this.logIn()
    if (outcome.status !== 0 && outcome.status < 500) this.#unexpected('sign-up', outcome)
    await wait(RETRY_AFTER)
    return this.signUp()
  }

  /**
   * Logs in with a password that may be the current one.
   * @throws Error when every possible password is refused in turn.
   */
  async logIn(): Promise<void> {
    const refused = new Set<string>()
    for (let tries = 0; ; tries++) {
      const password = this.#passwords[tries % this.#passwords.length]!
      const outcome = await this.#requests.send({
        method: 'POST',
        path: '/auth/login',
        body: { email: this.email, password },
      })
      if (outcome.status === 200) {
        // The others remain possible: a change with an unknown outcome may still be in progress.
        this.#passwords = [password, ...this.#passwords.filter((other) => other !== password)]
        return this.#begin(outcome)
      }
      if (outcome.status === 401) refused.add(password)
      else refused.clear()
      if (refused.size === this.#passwords.length) throw this.#lockedOut()
      await wait(outcome.status === 401 ? 0 : RETRY_AFTER)
    }
  }

  /** Refreshes, and repeats it with the same cookie until the response arrives. */
  async refresh(abortAfter?: number): Promise<void> {
    const cookie = this.#cookie
    let firstLost = 0
    for (let leave = abortAfter; ; leave = undefined) {
      const from = Date.now()
      const headers = { cookie }
      const outcome = await this.#requests.send({
        method: 'POST',
        path: '/auth/refresh',
        headers,
        abortAfter: leave,
      })
      if (outcome.status === 200) {
        this.#findings.count('refreshes')
        return this.#begin(outcome)
      }
      if (outcome.status === 401) return this.#endedBy(outcome, firstLost)
      if (firstLost === 0) firstLost = from
      // A lost response is asked for again immediately, and `Retry-After` of a 503 is at least a second.
      await wait(outcome.status === 0 ? 20 + Math.random() * 200 : 1000)
    }
  }

  async logOut(): Promise<void> {
    const token = this.#token
    const cookie = this.#cookie
    const outcome = await this.#requests.send({ method: 'POST', path: '/auth/logout', headers: { cookie } })
    if (outcome.status === 204) this.#ended.add({ token, cookie })
    this.#alive = false
    await this.logIn()
  }

  async changePassword(): Promise<void> {
    const token = this.#token
    const cookie = this.#cookie
    const next = `correct horse ${randomUUID()}`
    const outcome = await this.#requests.send({
      method: 'POST',
      path: '/auth/change-password',
      headers: { ...this.headers, cookie },
      body: { current: this.#passwords[0], next },
    })
    const isChanged = outcome.json['code'] === 'password_changed'
    if (outcome.status === 200 || isChanged) {
      this.#passwords = [next]
      this.#ended.add({ token, cookie })
      return isChanged ? this.logIn() : this.#begin(outcome)
    }
    if (outcome.status === 401 && this.#alive)
      this.#findings.add('a living session is refused', `change-password ${this.email}`)
    this.#passwords.push(next)
    this.#alive = false
    await this.logIn()
  }

  /** Sends a request with the access token. After a 401 it logs in; a living session must not get one. */
  async send(call: Call): Promise<Outcome> {
    const headers = { ...this.headers, ...call.headers }
    const outcome = await this.#requests.send({ ...call, headers })
    if (outcome.status !== 401) return outcome
    if (this.#alive)
      this.#findings.add('a living session is refused', `${call.method} ${call.path} ${this.email}`)
    await this.logIn()
    return this.send(call)
  }

  #begin({ json, cookies }: Outcome): void {
    this.#token = String(json['accessToken'])
    const cookie = cookies.map((line) => line.split(';')[0]!).find((pair) => /refresh/i.test(pair))
    if (cookie) this.#cookie = cookie
    this.#alive = true
  }

  async #endedBy(outcome: Outcome, firstLost: number): Promise<void> {
    const ago = Date.now() - firstLost
    if (!this.#alive) this.#findings.count('sessions ended by a request with an unknown outcome')
    else if (firstLost === 0) this.#unexpected('refresh', outcome)
    else if (ago < GRACE) this.#unexpected(`refresh repeated ${ago} ms after a lost response`, outcome)
    else this.#findings.count('refreshes repeated later than the grace')
    await this.logIn()
  }

  #lockedOut(): Error {
    this.#findings.add('a user cannot log in', `${this.email} (${this.#passwords.length} passwords)`)
    return new Error(`${this.email} cannot log in.`)
  }

  #unexpected(what: string, { status, json }: Outcome): void {
    this.#findings.add(`${what.replace(/ \d+ ms/, '')} refused`, `${what}: ${status} ${JSON.stringify(json)}`)
  }
}
