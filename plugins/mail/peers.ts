import type { PeerNeed } from '../../src/index.ts'

/** The packages of the mail brick: the transport, and the text part of messages that have HTML only. */
export const mailNeed: PeerNeed = {
  of: "the brick 'mail'",
  peers: { from: import.meta.url, packages: ['nodemailer', 'html-to-text'] },
}
