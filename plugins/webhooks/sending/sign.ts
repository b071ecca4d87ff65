import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

/** Makes a secret of 32 random bytes, in the form of Standard Webhooks: `whsec_…`. */
export function createSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Returns the headers of a signed message. With several secrets, a receiver may know any of them. */
export function signedHeaders(
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: number },
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const time = new Date(now)
  return {
    'content-type': 'application/json',
    'user-agent': 'Mortar-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(' '),
  }
}
