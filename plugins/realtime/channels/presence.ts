import { ignore } from 'mortar/kit'
import { pagesOf, type ChannelEngine, type Member } from './engine.ts'

/** Looks between two renewals of the leases. */
const RENEWED = 3

/** Reports a user who has come or gone, as every process sees it. */
type Report = (channel: string, type: 'join' | 'leave', user: string) => void

/** The users of channels over all processes. Each look compares the engine's list with the one before. */
export class Presence {
  readonly #engine: ChannelEngine
  readonly #report: Report
  /** Subscriptions of this process by channel and user. A channel that only strangers watch has an empty map. */
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #watchers = new Map<string, number>()
  readonly #known = new Map<string, Set<string>>()
  /** Changes of users that the engine does not have yet. */
  readonly #changes = new Map<string, Promise<void>>()
  #renewal: Promise<void> = Promise.resolve()
  #last: Promise<unknown> = Promise.resolve()
  #turn = 0

  constructor(engine: ChannelEngine, report: Report) {
    this.#engine = engine
    this.#report = report
  }

  /** Counts a subscription. The user is there for all processes when the promise resolves. */
  async enter(channel: string, user: string | undefined): Promise<void> {
    this.#watchers.set(channel, (this.#watchers.get(channel) ?? 0) + 1)
    if (user !== undefined) {
      const users = this.#counts.get(channel) ?? new Map<string, number>()
      this.#counts.set(channel, users.set(user, (users.get(user) ?? 0) + 1))
      if (users.get(user) === 1) await this.#change('enter', { channel, user })
    }
    await this.#look([channel])
  }

  /** Forgets a subscription. Errors of the engine are ignored: the lease ends. */
  async leave(channel: string, user: string | undefined): Promise<void> {
    const watchers = this.#watchers.get(channel)! - 1
    this.#watchers.set(channel, watchers)
    const users = this.#counts.get(channel)
    if (watchers === 0) for (const map of [this.#watchers, this.#counts, this.#known]) map.delete(channel)
    const count = user === undefined ? undefined : users?.get(user)
    // A stranger has no lease, and the stop has ended all others.
    if (user === undefined || count === undefined) return
    if (count > 1) return void users!.set(user, count - 1)
    users!.delete(user)
    try {
      await this.#change('leave', { channel, user })
      if (watchers > 0) await this.#look([channel])
    } catch {
      // The engine is away, which its reads report.
    }
  }

  /** Returns the users of a channel in the order of their ids, as every process sees them. */
  async findUsers(channel: string): Promise<readonly string[]> {
    return [...inOrder(await this.#engine.present([channel]))]
  }

  /** The users that a subscriber of the channel sees, in the order of their ids. */
  usersOf(channel: string): readonly string[] {
    return [...(this.#known.get(channel) ?? [])]
  }

  /** Renews the leases from time to time, and reports the changes. */
  async tick(): Promise<void> {
    if (this.#watchers.size === 0) return
    if (this.#turn % RENEWED === 0) {
      const renewal = this.#renew()
      this.#renewal = renewal.catch(ignore)
      await renewal
    }
    this.#turn++
    for (const page of pagesOf([...this.#watchers.keys()])) await this.#look(page)
  }

  /** Renews the leases with the next look: their engine may have lost them. */
  renew(): void {
    this.#turn = 0
  }

  /** Ends the leases of this process. */
  async stop(): Promise<void> {
    const own = this.#own()
    this.#counts.clear()
    await this.#last
    await this.#engine.leave(own)
  }

  async #renew(): Promise<void> {
    for (const page of pagesOf(this.#own())) await this.#engine.enter(page)
  }

  /** Calls the engine after earlier calls for the user, which another connection could carry out later. */
  async #change(change: 'enter' | 'leave', member: Member): Promise<void> {
    const key = `${member.channel} ${member.user}`
    const earlier = Promise.all([this.#changes.get(key), this.#renewal])
    const done = earlier.then(() => this.#engine[change]([member]))
    const settled = done.catch(ignore)
    this.#changes.set(key, settled)
    await settled
    if (this.#changes.get(key) === settled) this.#changes.delete(key)
    await done
  }

  #own(): Member[] {
    return [...this.#counts].flatMap(([channel, users]) =>
      [...users.keys()].map((user) => ({ channel, user })),
    )
  }

  /** Looks one after another: an older list must not undo a newer one. */
  #look(channels: readonly string[]): Promise<void> {
    const look = this.#last.then(async () => {
      const present = await this.#engine.present(channels)
      for (const channel of channels)
        this.#compare(channel, inOrder(present.filter((each) => each.channel === channel)))
    })
    this.#last = look.catch(() => undefined)
    return look
  }

  #compare(channel: string, users: Set<string>): void {
    if (!this.#watchers.has(channel)) return
    const before = this.#known.get(channel) ?? new Set()
    this.#known.set(channel, users)
    for (const user of users) if (!before.has(user)) this.#report(channel, 'join', user)
    for (const user of before) if (!users.has(user)) this.#report(channel, 'leave', user)
  }
}

/** Returns each user once. The order of the engines differs, and changes with each renewal. */
function inOrder(members: readonly Member[]): Set<string> {
  return new Set(members.map(({ user }) => user).toSorted())
}
