import type { Clock, EventBus } from 'mortar'
import type { QueuedAttempt } from 'mortar/kit'
import type { DataSource } from 'typeorm'
import type { Settings } from '../options.ts'
import { MortarWebhookDeliveries as Deliveries, MortarWebhookEndpoints as Endpoints } from '../schema.ts'
import type { DeliveryRow, EndpointRow } from '../schema.ts'
import type { Places } from './places.ts'
import { post } from './post.ts'
import { signedHeaders } from './sign.ts'

/** Events of the webhooks brick: `app.events.typed<WebhookEvents>()`. */
export interface WebhookEvents {
  /** An endpoint has failed too often, or has responded with 410. It gets nothing until it is enabled. */
  'webhooks.endpoint.disabled': {
    readonly endpoint: string
    readonly owner: string
    readonly reason: 'failures' | 'gone'
  }
}

/** Dependencies of deliveries. */
export interface DeliverParts {
  readonly db: DataSource
  readonly clock: Clock
  readonly events: EventBus
  readonly settings: Settings
  readonly places: Places
}

interface Result {
  readonly status: number | null
  readonly error: string | null
}

/** Makes one attempt of a delivery. @throws DeliveryFailed to be repeated, EndpointBusy to be postponed. */
export async function deliver(
  id: string,
  { signal, isLast }: Pick<QueuedAttempt, 'isLast'> & { readonly signal: AbortSignal },
  parts: DeliverParts,
): Promise<void> {
  const { db, clock } = parts
  const delivery = await db.getRepository(Deliveries).findOneBy({ id, state: 'waiting' })
  const endpoint = delivery && (await db.getRepository(Endpoints).findOneBy({ id: delivery.endpoint }))
  if (delivery === null || endpoint === null) return
  // A late failure does not replace the success of another process that has taken the delivery over.
  const write = (values: Partial<DeliveryRow>): Promise<unknown> =>
    db.getRepository(Deliveries).update(values.state === 'delivered' ? { id } : { id, state: 'waiting' }, {
      ...values,
      updated_at: clock.now(),
    })
  if (endpoint.disabled_at !== null)
    return void (await write({ state: 'failed', error: 'The endpoint is disabled.' }))

  const free = parts.places.occupy(endpoint.id)
  const result = await attempt(delivery, endpoint, { ...parts, signal }).finally(free)
  // The process stops: this attempt does not count.
  if (result.status === null && signal.aborted) throw signal.reason
  const attempts = delivery.attempts + 1
  if (result.error === null) {
    await write({ ...result, attempts, state: 'delivered' })
    return forgetFailures(endpoint, parts)
  }
  const isDisabled = await countFailure(endpoint, result, parts)
  const isOver = isLast || isDisabled
  await write({ ...result, attempts, state: isOver ? 'failed' : 'waiting' })
  // A delivery that is over is in the log. A failed job would be an alarm of the operator.
  if (!isOver) throw new DeliveryFailed(endpoint.id, result.error)
}

class DeliveryFailed extends Error {
  override readonly name = 'DeliveryFailed'
  /** Many deliveries fail with one endpoint, so the log joins their lines. */
  readonly isOutage = true
  readonly hostname: string

  constructor(endpoint: string, reason: string) {
    super(`The endpoint ${endpoint} has not accepted a webhook: ${reason}`)
    this.hostname = endpoint
  }
}

async function attempt(
  { message, body }: DeliveryRow,
  { url, secret, old_secret, old_secret_until }: EndpointRow,
  { clock, settings, signal }: DeliverParts & { readonly signal: AbortSignal },
): Promise<Result> {
  const now = clock.now()
  const isRotated = old_secret !== null && Number(old_secret_until) > now
  const headers = signedHeaders({ id: message, body, now }, isRotated ? [secret, old_secret] : [secret])
  const { timeout, allowed, lookup } = settings
  try {
    const status = await post({ url, body, headers, timeout, signal, allowed, lookup })
    if (status >= 200 && status < 300) return { status, error: null }
    const isRedirect = status >= 300 && status < 400
    return { status, error: `Status ${status}${isRedirect ? ', and redirects are not followed' : ''}.` }
  } catch (error) {
    return { status: null, error: reasonOf(error as Error & { readonly code?: unknown }) }
  }
}

/** Never the response or its headers: customers could read with them what the server sees. */
function reasonOf({ name, message, code }: Error & { readonly code?: unknown }): string {
  if (name === 'RefusedAddress') return message
  if (name === 'AbortError' || name === 'TimeoutError') return 'No response in time.'
  return typeof code === 'string' ? `The connection failed (${code}).` : 'The connection failed.'
}

/** Attempts of other processes may have failed since this one read the row, so the database compares. */
async function forgetFailures({ id }: EndpointRow, { db }: DeliverParts): Promise<void> {
  await db
    .getRepository(Endpoints)
    .createQueryBuilder()
    .update()
    .set({ failures: 0, failing_since: null })
    .where('id = :id AND failures > 0', { id })
    .execute()
}

/** Counts a failed attempt. @returns true if the endpoint is disabled now, or removed. */
async function countFailure(
  { id, owner }: EndpointRow,
  { status }: Result,
  { db, clock, events, settings }: DeliverParts,
): Promise<boolean> {
  const endpoints = db.getRepository(Endpoints)
  const now = clock.now()
  // Another process may have reached the endpoint since this attempt read its row.
  const failing_since = (): string => `COALESCE(failing_since, ${now})`
  await endpoints.update({ id }, { failures: () => 'failures + 1', failing_since })
  const row = await endpoints.findOneBy({ id })
  if (row === null) return true
  const isGone = status === 410
  const isOver =
    row.failures >= settings.disableAfter && now - Number(row.failing_since) >= settings.disableOver
  if (!isGone && !isOver) return false
  // Of several processes one emits the event.
  const { affected } = await endpoints
    .createQueryBuilder()
    .update()
    .set({ disabled_at: now })
    .where('id = :id AND disabled_at IS NULL', { id })
    .execute()
  if (affected === 1)
    events
      .typed<WebhookEvents>()
      .emit('webhooks.endpoint.disabled', { endpoint: id, owner, reason: isGone ? 'gone' : 'failures' })
  return true
}
