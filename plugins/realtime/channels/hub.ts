import { Unauthorized, ValidationFailed, type Authenticator, type Context, type HttpError } from 'mortar'
import { describeError, identifyAgain, inTime, Invalid, isHttpError, type Guard } from 'mortar/kit'
import { pagesOf, placeOf, type ChannelEngine, type Place, type Reading } from './engine.ts'
import type { Follower } from './follower.ts'
import { eventFrame, placeFrame, plainFrame, refusedFrame } from './frames.ts'
import type { LoadedChannel, LoadedChannels } from './load-channels.ts'
import type { Presence } from './presence.ts'
import { problem } from './problems.ts'
import { isKnown, release, replay } from './replay.ts'
import { Client, Subscription, type Outlet } from './subscriptions.ts'

/** Clients whose guards are evaluated again together, and the milliseconds for each. */
const TOGETHER = 20
const LONGEST = 5000
/** Evaluations in succession that may fail before the subscriptions of a client end. */
const MOST_FAILURES = 1

/** Parts of a `Hub`. */
export interface HubParts {
  readonly engine: ChannelEngine
  readonly follower: Follower
  readonly presence: Presence
  /** The guards of the channels that have one. */
  readonly guards: ReadonlyMap<LoadedChannel, Guard>
  readonly authenticator: Authenticator | undefined
  readonly channelsPerConnection: number
}

/** The subscriptions of this process. */
export class Hub {
  readonly totals = { published: 0, delivered: 0 }
  /** Number of open subscriptions. */
  size = 0
  readonly #parts: HubParts
  readonly #topics = new Map<string, Set<Subscription>>()
  readonly #clients = new Set<Client>()
  readonly channels: LoadedChannels

  constructor(channels: LoadedChannels, parts: HubParts) {
    this.channels = channels
    this.#parts = parts
  }

  connect(ctx: Context, outlet: Outlet): Client {
    const client = new Client(ctx, outlet)
    this.#clients.add(client)
    return client
  }

  /** Ends the subscriptions of a client whose connection is closed. */
  disconnect(client: Client): void {
    this.#clients.delete(client)
    for (const subscription of client.subscriptions.values()) this.close(subscription)
  }

  /**
   * Evaluates guard and parameters of a channel for a client. `open` begins the subscription.
   * @throws HttpError, and the error of a policy.
   */
  async admit(client: Client, name: string): Promise<Subscription> {
    const found = this.channels.find(name)
    if (client.subscriptions.has(found.name))
      throw problem('already_subscribed', 'This client has subscribed to the channel.')
    if (client.subscriptions.size >= this.#parts.channelsPerConnection)
      throw problem('too_many_channels', 'This connection has too many channels.')
    const subscription = new Subscription(client, found)
    client.subscriptions.set(found.name, subscription)
    try {
      await this.#judge(subscription)
      const params = await found.loaded.validate(found.params)
      if (params instanceof Invalid)
        throw new ValidationFailed(params.issues.map((issue) => ({ location: 'params' as const, ...issue })))
    } catch (error) {
      client.subscriptions.delete(found.name)
      throw error
    }
    return subscription
  }

  /** Begins subscriptions of a client, after the events that it has missed since an id. @throws the error of the engine. */
  async open(subscriptions: readonly Subscription[], since: string | undefined): Promise<void> {
    const { engine, follower, presence } = this.#parts
    const place = since === undefined ? undefined : placeOf(since)
    if (place !== undefined && place.at > follower.place.at) await follower.refresh(place.at)
    for (const each of subscriptions) await this.#enter(each)
    const open = subscriptions.filter((each) => this.#add(each, follower.place.at))
    const known = open.filter((each) => since !== undefined && isKnown(place, follower.place, each))
    const now = follower.place
    if (known.length > 0) await replay(engine, { open, known, from: place!, to: now }, this.totals)
    for (const each of open.filter(({ isOpen }) => isOpen)) {
      const { client, name, found } = each
      const channel = { channel: name }
      if (since !== undefined && !known.includes(each)) client.outlet.write(placeFrame('reset', now, channel))
      const users = found.loaded.hasPresence ? { users: presence.usersOf(name) } : {}
      client.outlet.write(placeFrame('subscribed', now, { ...channel, ...users }))
    }
    await release(open)
  }

  /** Ends a subscription. */
  close(subscription: Subscription): void {
    const { client, name } = subscription
    if (client.subscriptions.get(name) === subscription) client.subscriptions.delete(name)
    if (subscription.isThere) void this.#parts.presence.leave(name, subscription.user)
    subscription.isThere = false
    if (!subscription.isOpen) return
    subscription.isOpen = false
    this.size--
    const topic = this.#topics.get(name)!
    topic.delete(subscription)
    if (topic.size === 0) this.#topics.delete(name)
  }

  /** Sends events to their subscribers. The text of an event is made once. */
  deliver({ events, epoch }: Reading): void {
    for (const event of events) {
      const topic = this.#topics.get(event.channel)
      if (topic === undefined) continue
      const frame = eventFrame(event, epoch)
      for (const each of topic)
        if (event.at > each.after) {
          this.totals.delivered++
          each.take(frame)
        }
    }
  }

  /** Tells all subscribers that events are missing. Their numbers go on after a place. */
  reset(place: Place): void {
    this.#parts.presence.renew()
    for (const topic of this.#topics.values())
      for (const each of topic) {
        each.after = place.at
        each.take(placeFrame('reset', place, { channel: each.name }))
      }
  }

  /** Tells the subscribers of a channel that a user has come or gone. */
  report(channel: string, type: 'join' | 'leave', user: string): void {
    const frame = plainFrame(type, { channel, user })
    for (const each of this.#topics.get(channel) ?? []) each.take(frame)
  }

  /** Tells clients the current place, so that they can come back after a long time without events. */
  tellPlace(): void {
    const frame = placeFrame('place', this.#parts.follower.place)
    for (const client of this.#clients) {
      const all = [...client.subscriptions.values()]
      const hasAll = all.every(({ held, isOpen }) => isOpen && held === undefined)
      if (all.length > 0 && hasAll) client.outlet.write(frame)
    }
  }

  /** Evaluates the guards of all open subscriptions again. */
  async judgeAll(): Promise<void> {
    for (const clients of pagesOf([...this.#clients], TOGETHER))
      await Promise.all(clients.map((client) => this.#judgeAgain(client)))
  }

  /** Replaces the facts about the user of a client by those of another token. @throws Unauthorized for another user. */
  async authenticate(client: Client, token: string): Promise<void> {
    const user = client.user && (await identifyAgain(client.ctx, this.#parts.authenticator!, token))
    if (user === null || user.id !== client.user?.id)
      throw new Unauthorized('The token is not valid for the user of this connection.', {
        code: 'invalid_token',
      })
    Object.assign(client, { user, token, isExpired: false })
    await this.judge(client)
  }

  /** Ends the subscriptions of a client that their guards do not allow any more. @throws the error of a policy. */
  async judge(client: Client): Promise<void> {
    for (const each of client.subscriptions.values())
      try {
        if (each.isOpen) await this.#judge(each)
      } catch (error) {
        if (!isHttpError(error) || error.status >= 500) throw error
        this.#refuse(each, error)
      }
  }

  #refuse(subscription: Subscription, error: unknown): void {
    const { client, name } = subscription
    this.close(subscription)
    const { status = 500 } = error as Partial<HttpError>
    const fields = { event: 'subscription.ended', channel: name, status }
    client.ctx.log.info(fields, `Subscription to ${name} ended`)
    client.outlet.write(refusedFrame(name, error, client.ctx.id))
    if (client.subscriptions.size === 0) client.outlet.end()
  }

  async #judgeAgain(client: Client): Promise<void> {
    try {
      // One policy that never settles must not keep the others from being evaluated.
      await inTime(this.#judgeFacts(client), LONGEST, () => new Error('The guard takes too long.'))
      client.failures = 0
    } catch (error) {
      const fields = { brick: 'channels', err: describeError(error) }
      client.ctx.log.warn(fields, 'The guard of a subscription failed')
      // A database may be away for a moment, but a guard that cannot be evaluated admits nobody for long.
      if (++client.failures <= MOST_FAILURES) return
      for (const each of client.subscriptions.values()) if (each.isOpen) this.#refuse(each, error)
    }
  }

  async #judgeFacts(client: Client): Promise<void> {
    if (client.user !== null) {
      const user = await identifyAgain(client.ctx, this.#parts.authenticator!, client.token)
      if (user?.id === client.user.id) Object.assign(client, { user, isExpired: false })
      else client.isExpired = true
    }
    await this.judge(client)
  }

  async #judge({ client, found }: Subscription): Promise<void> {
    const { loaded, params } = found
    // The session goes on, but what a policy reads about the user may have changed.
    if (client.isExpired && loaded.auth !== true && loaded.auth !== false)
      throw new Unauthorized('The credential has expired. Send another one.', { code: 'invalid_token' })
    const ctx = Object.create(client.ctx, {
      params: { value: params, enumerable: true },
      user: { value: client.user, enumerable: true },
    }) as Context
    await this.#parts.guards.get(loaded)?.(ctx)
  }

  async #enter(subscription: Subscription): Promise<void> {
    const { client, found, name } = subscription
    if (!found.loaded.hasPresence || !client.outlet.isOpen) return
    subscription.user = client.user?.id
    subscription.isThere = true
    await this.#parts.presence.enter(name, subscription.user)
  }

  #add(subscription: Subscription, at: number): boolean {
    const { client, name } = subscription
    if (!client.outlet.isOpen || client.subscriptions.get(name) !== subscription) return false
    this.size++
    subscription.isOpen = true
    subscription.after = at
    this.#topics.set(name, (this.#topics.get(name) ?? new Set()).add(subscription))
    return true
  }
}
