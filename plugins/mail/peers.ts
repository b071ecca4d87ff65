import type * as Nodemailer from 'nodemailer'
import type addressParser from 'nodemailer/lib/addressparser'
import { loadPeer, type PeerNeed } from '../../src/index.ts'

/** The packages of the mail brick: the transport, and the text part of messages that have HTML only. */
export const mailNeed: PeerNeed = {
  of: "the brick 'mail'",
  peers: { from: import.meta.url, packages: ['nodemailer', 'html-to-text'] },
}

/** nodemailer has a build for `require`, which costs half of what its 39 modules for `import` do. */
export const loadNodemailer = (): typeof Nodemailer => loadPeer('nodemailer', mailNeed)

/** nodemailer's own parser of addresses. */
export const loadAddressParser = (): typeof addressParser =>
  loadPeer('nodemailer/lib/addressparser', mailNeed)
