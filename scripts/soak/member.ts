import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Account } from './account.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { Ledger, type ListedNote } from './ledger.ts'
import { Requests, type World } from './requests.ts'

type Step = (member: Member) => Promise<void>

/** The steps of members with their weights. */
const MIX: readonly (readonly [weight: number, step: Step])[] = [
  [25, (member) => member.create()],
  [14, (member) => member.change()],
  [8, (member) => member.remove()],
  [18, (member) => member.list()],
  [10, (member) => member.read()],
  [12, (member) => member.account.refresh(oftenUndefined(4))],
  [3, (member) => member.account.logOut()],
  [1, (member) => member.account.changePassword()],
  [5, (member) => member.upload()],
  [4, (member) => member.listen()],
]
const TOTAL = MIX.reduce((sum, [weight]) => sum + weight, 0)

/** One simulated user with a client of its own, who does one thing after the other. */
export class Member {
  readonly account: Account
  readonly requests: Requests
  readonly #ledger = new Ledger()
  readonly #world: World & { readonly pause: number }

  constructor(number: number, world: World & { readonly pause: number; readonly ended: EndedSessions }) {
    this.#world = world
    this.requests = new Requests(world, `10.1.${Math.floor(number / 250)}.${(number % 250) + 1}`)
    this.account = new Account(this.requests, world)
  }

  get acknowledged(): number {
    return this.#ledger.acknowledged
  }

  /** Runs until `stopped()`. */
  async run(stopped: () => boolean): Promise<void> {
    await this.account.signUp(oftenUndefined(3))
    while (!stopped()) {
      let chance = Math.random() * TOTAL
      const [, step] = MIX.find(([weight]) => (chance -= weight) < 0) ?? MIX[0]!
      await step(this)
      await wait(Math.random() * this.#world.pause)
    }
  }

  async create(): Promise<void> {
    const note = { marker: `note ${randomUUID()}`, text: randomUUID() }
    const body = { title: note.marker, text: note.text }
    const abortAfter = oftenUndefined(15)
    const { status, json } = await this.account.send({ method: 'POST', path: '/notes', body, abortAfter })
    if (status === 201) this.#ledger.created(String(json['id']), note)
    else if (this.#isUnknown('create', status)) this.#ledger.perhapsCreated(note)
  }

  async change(): Promise<void> {
    const id = this.#ledger.anyLiving()
    if (id === undefined) return
    const text = randomUUID()
    const call = { method: 'PATCH', path: `/notes/${id}`, body: { text }, abortAfter: oftenUndefined(15) }
    const { status } = await this.account.send(call)
    if (status === 200) this.#ledger.changed(id, text)
    else if (status === 404 && this.#ledger.mayBeGone(id)) this.#ledger.deleted(id)
    else if (this.#isUnknown('change', status)) this.#ledger.perhapsChanged(id, text)
  }

  async remove(): Promise<void> {
    const id = this.#ledger.anyLiving()
    if (id === undefined) return
    const call = { method: 'DELETE', path: `/notes/${id}`, abortAfter: oftenUndefined(15) }
    const { status } = await this.account.send(call)
    if (status === 204 || (status === 404 && this.#ledger.mayBeGone(id))) this.#ledger.deleted(id)
    else if (this.#isUnknown('delete', status)) this.#ledger.perhapsDeleted(id)
  }

  async read(): Promise<void> {
    const id = this.#ledger.anyLiving()
    if (id === undefined) return
    const { status, json } = await this.account.send({ method: 'GET', path: `/notes/${id}` })
    const right =
      status === 200
        ? this.#ledger.mayRead(id, String(json['text']))
        : status !== 404 || this.#ledger.mayBeGone(id)
    if (!right)
      this.#world.findings.add('a note is not as acknowledged', `${id}: ${status} ${String(json['text'])}`)
  }

  async list(): Promise<void> {
    await this.account.send({ method: 'GET', path: '/notes?limit=100', abortAfter: oftenUndefined(15) })
  }

  async upload(): Promise<void> {
    const content = randomBytes(20_000 + Math.floor(Math.random() * 1_000_000))
    const abortAfter = oftenUndefined(3)
    const { status, json } = await this.requests.send({ ...multipart(content), abortAfter })
    if (status === 200 && json['sha256'] !== createHash('sha256').update(content).digest('hex'))
      this.#world.findings.add('an upload has changed', JSON.stringify(json))
    if (status === 200) this.#world.findings.count('uploads')
  }

  /** Listens to an event stream for up to a second. */
  async listen(): Promise<void> {
    await this.requests.send({ method: 'GET', path: '/soak/events', abortAfter: Math.random() * 1000 })
    this.#world.findings.count('event streams')
  }

  /** Logs in and compares every note with the ledger. */
  async verify(): Promise<void> {
    await this.account.logIn()
    const listed: ListedNote[] = []
    for (const archived of [false, true])
      for (let offset = 0; ; offset += 100) {
        const path = `/notes?limit=100&offset=${offset}&archived=${archived}`
        const { status, json } = await this.account.send({ method: 'GET', path })
        if (status !== 200) return this.#world.findings.add('the final list fails', `${status}`)
        const page = json['notes'] as ListedNote[]
        listed.push(...page)
        if (page.length < 100) break
      }
    this.#ledger.compare(listed, { who: this.account.email, findings: this.#world.findings })
  }

  /** A 5xx and a lost response leave it open whether the statement took effect; another status is a finding. */
  #isUnknown(what: string, status: number): boolean {
    if (status === 0 || status >= 500) return true
    this.#world.findings.add(`${what} refused`, `${status}`)
    return false
  }
}

/** Returns a few milliseconds in one of `n` cases: the moment at which the client leaves. */
function oftenUndefined(n: number): number | undefined {
  return Math.random() * n < 1 ? Math.random() * 25 : undefined
}

function multipart(content: Buffer): {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer
} {
  const boundary = `soak-${randomUUID()}`
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="content"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`
  return {
    method: 'POST',
    path: '/soak/uploads',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}
