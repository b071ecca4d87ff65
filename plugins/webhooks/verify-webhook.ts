import { Webhook } from 'standardwebhooks'
import { problem } from './problems.ts'

/** The part of a request that carries a webhook. The route needs `rawBody: true`. */
export interface ReceivedWebhook {
  readonly rawBody: Buffer
  get(name: string): string | undefined
}

/** A message with a valid signature. */
export interface VerifiedWebhook {
  /** The same in each repetition: a message whose id was handled before has no further effect. */
  readonly id: string
  /** Moment of the attempt. */
  readonly sentAt: Date
}

/**
 * Verifies a message of Standard Webhooks: its signature by any of the secrets (`whsec_…`), and that it was sent within
 * the last five minutes by the clock of the system.
 * @throws HttpError `webhook_signature_invalid`, 401.
 */
export function verifyWebhook(
  received: ReceivedWebhook,
  secret: string | readonly string[],
): VerifiedWebhook {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(names.map((name) => [name, received.get(name) ?? '']))
  const secrets = (typeof secret === 'string' ? [secret] : secret).map((each) => new Webhook(each))
  if (!secrets.some((webhook) => isSigned(webhook, received.rawBody, headers)))
    throw problem('webhook_signature_invalid', 'The signature or the time of the webhook is not valid.')
  return {
    id: headers['webhook-id']!,
    sentAt: new Date(Number.parseInt(headers['webhook-timestamp']!, 10) * 1000),
  }
}

function isSigned(webhook: Webhook, body: Buffer, headers: Record<string, string>): boolean {
  try {
    webhook.verify(body.toString(), headers, { jsonParse: false })
    return true
  } catch {
    return false
  }
}
