import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import type { Clock, Duration } from 'mortar'
import { isPausing, seconds } from 'mortar/kit'
import type { DataSource } from 'typeorm'
import type { Settings } from './options.ts'
import { problem } from './problems.ts'
import { MortarWebhookDeliveries as Deliveries, MortarWebhookEndpoints as Rows } from './schema.ts'
import type { DeliveryRow, EndpointRow } from './schema.ts'
import { isReachable } from './sending/public-address.ts'
import { createSecret } from './sending/sign.ts'

/** An endpoint as its customer sees it. */
export interface Endpoint {
  readonly id: string
  readonly url: string
  /** Names of events; undefined for all. */
  readonly events: readonly string[] | undefined
  /** Failed attempts in succession. */
  readonly failures: number
  readonly disabledAt: Date | undefined
  readonly createdAt: Date
}

/** A delivery of the log, without its data. */
export interface Delivery {
  readonly id: string
  /** Value of `webhook-id`. */
  readonly message: string
  readonly event: string
  readonly state: DeliveryRow['state']
  readonly attempts: number
  /** Status of the last response, if there was one. */
  readonly status: number | undefined
  readonly error: string | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Address and events of an endpoint. */
export interface EndpointInput {
  readonly url: string
  /** Names of events; all by default. */
  readonly events?: readonly string[] | undefined
}

/** Selection of deliveries. */
export interface DeliveryFilter {
  readonly state?: DeliveryRow['state']
  readonly limit?: number
}

/** Dependencies of the endpoints. */
export interface EndpointParts {
  readonly db: DataSource
  readonly clock: Clock
  readonly settings: Settings
  readonly addDelivery: (data: { readonly id: string }, tx?: unknown) => Promise<unknown>
}

/** The endpoints of one customer. A method with an id throws `webhook_not_found` (404) for that of another one. */
export class Endpoints {
  readonly #owner: string
  readonly #parts: EndpointParts

  constructor(owner: string, parts: EndpointParts) {
    this.#owner = checkedOwner(owner)
    this.#parts = parts
  }

  async list(): Promise<readonly Endpoint[]> {
    const rows = await this.#rows.find({ where: { owner: this.#owner }, order: { created_at: 'ASC' } })
    return rows.filter(({ owner }) => owner === this.#owner).map(shown)
  }

  /** Adds an endpoint. The secret, with which the customer verifies messages, is returned here only. */
  async add(input: EndpointInput): Promise<Endpoint & { readonly secret: string }> {
    const { clock, settings } = this.#parts
    const secret = createSecret()
    const own = { id: randomUUID(), owner: this.#owner, secret, created_at: clock.now() }
    const row: EndpointRow = { ...FRESH, ...own, ...stored(input, settings) }
    await this.#rows.insert(row)
    return { ...shown(row), secret }
  }

  async update(id: string, input: Partial<EndpointInput>): Promise<void> {
    const { url, events } = shown(await this.#own(id))
    const changed = { url: input.url ?? url, events: 'events' in input ? input.events : events }
    await this.#change(id, stored(changed, this.#parts.settings))
  }

  /** Deletes an endpoint with its deliveries. */
  async remove(id: string): Promise<void> {
    await this.#own(id)
    await this.#parts.db.transaction(async (tx) => {
      await tx.delete(Rows, { id, owner: this.#owner })
      await tx.delete(Deliveries, { endpoint: id })
    })
  }

  /** Makes a new secret. The old one signs as well for `overlap`, `'1d'` by default. */
  async rotate(
    id: string,
    { overlap = '1d' }: { readonly overlap?: Duration } = {},
  ): Promise<{ readonly secret: string }> {
    const secret = createSecret()
    const until = this.#parts.clock.now() + seconds(overlap) * 1000
    await this.#change(id, { secret, old_secret: (await this.#own(id)).secret, old_secret_until: until })
    return { secret }
  }

  enable(id: string): Promise<void> {
    return this.#change(id, { disabled_at: null, failures: 0, failing_since: null })
  }

  disable(id: string): Promise<void> {
    return this.#change(id, { disabled_at: this.#parts.clock.now() })
  }

  /** The newest deliveries, 100 by default. */
  async deliveries(id: string, { state, limit = 100 }: DeliveryFilter = {}): Promise<readonly Delivery[]> {
    await this.#own(id)
    const where = { endpoint: id, ...(state !== undefined && { state }) }
    const rows = this.#parts.db.getRepository(Deliveries)
    return (await rows.find({ where, order: { created_at: 'DESC' }, take: limit })).map(shownDelivery)
  }

  /** Sends a delivery that has ended again, with the same id, and one that waits although its job is lost. */
  async redeliver(id: string, delivery: string): Promise<void> {
    await this.#own(id)
    const { db, clock, addDelivery } = this.#parts
    await db.transaction(async (tx) => {
      const found = await tx.findOneBy(Deliveries, { id: delivery, endpoint: id })
      if (found === null) throw problem('webhook_not_found', 'There is no such delivery.')
      const { state, updated_at } = found
      const now = clock.now()
      if (state === 'waiting' && isPausing(Number(updated_at) + LONGEST_PAUSE, now, LONGEST_PAUSE)) return
      const expected = { id: delivery, state, updated_at }
      const { affected } = await tx.update(Deliveries, expected, { state: 'waiting', updated_at: now })
      // Another call may have been faster.
      if (affected === 1) await addDelivery({ id: delivery }, tx)
    })
  }

  get #rows() {
    return this.#parts.db.getRepository(Rows)
  }

  async #own(id: string): Promise<EndpointRow> {
    const row = typeof id === 'string' ? await this.#rows.findOneBy({ id, owner: this.#owner }) : null
    // MariaDB and MySQL ignore spaces at the end of an owner.
    if (row?.owner === this.#owner) return row
    throw problem('webhook_not_found', 'There is no such webhook endpoint.')
  }

  async #change(id: string, values: Partial<EndpointRow>): Promise<void> {
    await this.#own(id)
    await this.#rows.update({ id, owner: this.#owner }, values)
  }
}

/** Milliseconds without an attempt after which a delivery that waits has lost its job: twice the longest delay of jobs. */
const LONGEST_PAUSE = 7_200_000

/** Returns an owner. MariaDB and MySQL find every row for the number 0. @throws TypeError */
export function checkedOwner(owner: unknown): string {
  if (typeof owner === 'string' && owner !== '') return owner
  throw new TypeError('The owner of webhooks is not a string with the id of a customer.')
}

const FRESH = {
  old_secret: null,
  old_secret_until: null,
  failures: 0,
  failing_since: null,
  disabled_at: null,
} as const

function stored({ url, events }: EndpointInput, settings: Settings): Pick<EndpointRow, 'url' | 'events'> {
  const unknown = events?.find((name) => !settings.events.has(name))
  if (unknown !== undefined)
    throw problem('webhook_event_unknown', 'The endpoint names an event that does not exist.')
  return { url: checkedUrl(url, settings), events: events === undefined ? null : JSON.stringify(events) }
}

/** The address of a name is checked at each attempt, because it may change. */
function checkedUrl(text: string, { http, allowed }: Settings): string {
  const refuse = (why: string): never => {
    throw problem('webhook_url_refused', `The address ${why}.`)
  }
  const url =
    text.length <= 2000 && URL.canParse(text)
      ? new URL(text)
      : refuse('is not a URL of at most 2000 characters')
  const schemes = http ? ['https:', 'http:'] : ['https:']
  if (!schemes.includes(url.protocol)) refuse(`does not begin with ${schemes.join('// or ')}//`)
  if (url.username !== '' || url.password !== '') refuse('has a user name or a password')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isReachable(host, allowed)) refuse('is not public')
  url.hash = ''
  return url.href
}

function shown({ id, url, events, failures, disabled_at, created_at }: EndpointRow): Endpoint {
  return {
    id,
    url,
    events: events === null ? undefined : (JSON.parse(events) as string[]),
    failures,
    disabledAt: disabled_at === null ? undefined : new Date(Number(disabled_at)),
    createdAt: new Date(Number(created_at)),
  }
}

function shownDelivery(row: DeliveryRow): Delivery {
  const { id, message, event, state, attempts, status, error, created_at, updated_at } = row
  return {
    id,
    message,
    event,
    state,
    attempts,
    status: status ?? undefined,
    error: error ?? undefined,
    createdAt: new Date(Number(created_at)),
    updatedAt: new Date(Number(updated_at)),
  }
}
