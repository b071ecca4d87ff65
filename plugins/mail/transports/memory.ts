import type { Transport } from 'nodemailer'

/** A transport that takes every message and does nothing with it; outside production the outbox has it. */
export function memoryTransport(): Transport {
  return {
    name: 'memory',
    version: '1',
    send(mail, done) {
      done(null, { envelope: mail.message.getEnvelope(), messageId: mail.message.messageId() })
    },
  }
}
