import { randomUUID } from 'node:crypto'
import type { CoreServices } from 'mortar'
import { brokenRules, compileValidator, Invalid, isPausing, type JobQueue } from 'mortar/kit'
import type { DataSource } from 'typeorm'
import { checkedOwner, Endpoints } from './endpoints.ts'
import type { WebhookEvent } from './event.ts'
import type { Settings } from './options.ts'
import { MortarWebhookDeliveries as Deliveries, MortarWebhookEndpoints as Rows } from './schema.ts'
import { deliver, type DeliverParts } from './sending/deliver.ts'
import { createPlaces } from './sending/places.ts'

/** Options of one message. */
export interface SendWebhookOptions {
  /** The customer, whose endpoints get the message. */
  readonly owner: string
  /** The manager of a transaction: the message is sent if it commits, as for `jobs.add`. */
  readonly tx?: unknown
}

/** The service `webhooks`. */
export interface Webhooks {
  /**
   * Sends an event to the endpoints that a customer has when the message leaves. @returns the id of the message.
   * @throws InvalidWebhookData for data that the schema refuses, or that is larger than 256 KiB, and TypeError for an
   * owner that is not a string.
   */
  send<Data>(
    event: WebhookEvent<Data>,
    data: Data,
    options: SendWebhookOptions,
  ): Promise<{ readonly id: string }>
  /** The endpoints of a customer. @throws TypeError for an owner that is not a string. */
  endpointsOf(owner: string): Endpoints
}

/** Data that an event does not accept. Its message has no value. */
export class InvalidWebhookData extends TypeError {
  override readonly name = 'InvalidWebhookData'
}

/** Bytes of a message. */
const MOST_BYTES = 262_144
/** Seconds of an attempt for the database, beside its request. */
const BESIDE = 240
/** Milliseconds between two deletions of old deliveries. */
const PRUNE_EVERY = 600_000
/** Milliseconds for which a delivery that waits is kept longer than others. */
const LONGEST_WAIT = 30 * 86_400_000

interface Message {
  readonly message: string
  readonly event: string
  readonly owner: string
  readonly body: string
}

type Services = Pick<CoreServices, 'clock' | 'events'> & {
  readonly db: DataSource
  readonly jobQueue: JobQueue
}

/** Creates the service. Its work is two jobs: one for a message, and one for each endpoint that gets it. */
export function createWebhooks(settings: Settings, services: Services): Webhooks {
  const { db, clock, events, jobQueue } = services
  const { attempts, concurrency, perEndpoint, timeout } = settings
  const prune = pruning(db, clock, settings)
  const parts: DeliverParts = { db, clock, events, settings, places: createPlaces(perEndpoint) }
  const addDelivery = jobQueue.define(
    'webhooks:deliver',
    async (data, signal, { isLast }) => {
      await deliver((data as { readonly id: string }).id, { signal, isLast }, parts)
      await prune()
    },
    { attempts, concurrency, timeout: timeout / 1000 + BESIDE },
  )
  const addMessage = jobQueue.define('webhooks:send', (data) => spread(data as Message))

  /** Adds a delivery for each endpoint. A repetition finds those that exist. */
  async function spread({ message, event, owner, body }: Message): Promise<void> {
    const wants = (names: string | null) => names === null || (JSON.parse(names) as string[]).includes(event)
    const endpoints = (await db.getRepository(Rows).findBy({ owner })).filter(
      (each) => each.owner === owner && each.disabled_at === null && wants(each.events),
    )
    for (const { id: endpoint } of endpoints)
      await db.transaction(async (tx) => {
        if (await tx.existsBy(Deliveries, { endpoint, message })) return
        const now = clock.now()
        const row = { id: randomUUID(), message, endpoint, event, body, created_at: now, updated_at: now }
        await tx.insert(Deliveries, { ...row, state: 'waiting', attempts: 0, status: null, error: null })
        await addDelivery({ id: row.id }, tx)
      })
  }

  return {
    async send(event, given, { owner, tx }) {
      const message = `msg_${randomUUID().replaceAll('-', '')}`
      const body = await bodyOf(event, given, { settings, now: clock.now() })
      const data = { message, event: event.name, owner: checkedOwner(owner), body } satisfies Message
      await addMessage(data, tx)
      return { id: message }
    },
    endpointsOf: (owner) => new Endpoints(owner, { db, clock, settings, addDelivery }),
  }
}

async function bodyOf(
  { name, data: schema }: WebhookEvent<never>,
  given: unknown,
  { settings, now }: { readonly settings: Settings; readonly now: number },
): Promise<string> {
  if (settings.events.get(name)?.data !== schema)
    throw new InvalidWebhookData(`The event ${name} is not among the events of webhooks({ events }).`)
  const data: unknown = await compileValidator(schema, 'body').validate(given)
  if (data instanceof Invalid)
    throw new InvalidWebhookData(`The data of the webhook ${name} is invalid: ${brokenRules(data)}.`)
  const body = JSON.stringify({ type: name, timestamp: new Date(now).toISOString(), data })
  if (Buffer.byteLength(body) <= MOST_BYTES) return body
  throw new InvalidWebhookData(
    `The webhook ${name} is larger than 256 KiB. Send an id with which the customer can fetch it.`,
  )
}

/**
 * Returns a function that deletes old deliveries from time to time. One that waits is kept for a month more: after a pause
 * of all processes it is still to be sent. By then its job is gone.
 */
function pruning(db: DataSource, clock: Services['clock'], { keep }: Settings): () => Promise<void> {
  let next = 0
  return async () => {
    const now = clock.now()
    if (isPausing(next, now, PRUNE_EVERY)) return
    next = now + PRUNE_EVERY
    const before = now - keep
    await db
      .getRepository(Deliveries)
      .createQueryBuilder()
      .delete()
      .where("updated_at < :before AND (state <> 'waiting' OR updated_at < :abandoned)", {
        before,
        abandoned: before - LONGEST_WAIT,
      })
      .execute()
  }
}
