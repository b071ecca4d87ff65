import { createRequire } from 'node:module'
import type * as mimeTypes from 'mime-types'
import type { MailMessage as CompiledMail } from 'nodemailer'
import { formatAddresses, type MailAddress } from './addresses.ts'
import type { OutboxMessage } from './outbox.ts'
import type { PreparedAttachment } from './prepared-message.ts'

/** The addresses of a compiled message, by header. */
type Addresses = Partial<Record<'from' | 'to' | 'cc' | 'bcc' | 'reply-to', MailAddress[]>>

/** Types that a browser shows in an `img` without running anything; SVG there has neither script nor network. */
const IMAGE_TYPE = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/i

/**
 * Reads a message that nodemailer compiled for the transport. The headers are those on the wire: with encoded words,
 * generated `Date` and `Message-ID`, and without `Bcc`.
 */
export function captureMessage(
  mail: CompiledMail,
  known: { id: string; date: Date; attachments: readonly PreparedAttachment[] },
): OutboxMessage {
  const addresses = mail.message.getAddresses() as Addresses
  const headers = readHeaders(mail.message.buildHeaders())
  const text = bodyText(mail.data.text)
  const html = bodyText(mail.data.html)
  const attachments = known.attachments.map(({ filename, content, contentType }) => ({
    filename,
    content,
    contentType: contentType ?? typeOf(filename),
  }))
  return {
    id: known.id,
    date: known.date,
    status: 'sending',
    from: formatAddresses(addresses.from ?? []),
    to: formatAddresses(addresses.to ?? []),
    cc: formatAddresses(addresses.cc ?? []),
    bcc: formatAddresses(addresses.bcc ?? []),
    replyTo: formatAddresses(addresses['reply-to'] ?? []),
    subject: mail.data.subject ?? '',
    text,
    html,
    headers,
    attachments,
    images: new Map(known.attachments.flatMap(imageOf)),
    bytes: sizeOf([text, html]) + attachments.reduce((sum, { content }) => sum + content.length, 0),
    source: async () => Buffer.from(await mail.message.build()),
  }
}

const require = createRequire(import.meta.url)

/** The table of media types is large. It is loaded with the first attachment that has no type of its own. */
function typeOf(filename: string): string {
  const { lookup } = require('mime-types') as typeof mimeTypes
  return lookup(filename) || 'application/octet-stream'
}

function readHeaders(block: string): (readonly [string, string])[] {
  const lines = block.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  return lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
}

function bodyText(content: unknown): string | null {
  return typeof content === 'string' ? content : null
}

function imageOf({ cid, filename, contentType, content }: PreparedAttachment): [string, string][] {
  if (cid === undefined) return []
  const type = contentType ?? typeOf(filename)
  if (!IMAGE_TYPE.test(type)) return []
  return [[cid, `data:${type.toLowerCase()};base64,${content.toString('base64')}`]]
}

function sizeOf(texts: readonly (string | null)[]): number {
  return texts.reduce((sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)), 0)
}
