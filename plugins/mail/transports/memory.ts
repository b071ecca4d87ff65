import type { Transport } from 'nodemailer'

/** A transport that accepts every message and sends nothing. Outside production the outbox stores it. */
export function memoryTransport(): Transport {
  return {
    name: 'memory',
    version: '1',
    send(mail, done) {
      done(null, { envelope: mail.message.getEnvelope(), messageId: mail.message.messageId() })
    },
  }
}
