import { readAddresses, type MailAddress, type ParseAddresses } from './addresses.ts'
import { MailError } from './mail-error.ts'

/** An attachment with its content in memory. nodemailer never receives a path or URL to read. */
export interface PreparedAttachment {
  readonly filename: string
  readonly content: Buffer
  readonly contentType?: string
  readonly cid?: string
}

/** A checked message: known fields only, parsed addresses, no line breaks in headers. */
export interface PreparedMessage {
  readonly from: MailAddress
  readonly to: MailAddress[]
  readonly cc: MailAddress[]
  readonly bcc: MailAddress[]
  readonly replyTo: MailAddress[]
  readonly subject: string
  readonly text?: string
  readonly html?: string
  readonly headers: Record<string, string>
  readonly attachments: PreparedAttachment[]
}

/** Header names are RFC 5322 §2.2 field names. */
const HEADER_NAME = /^[!-9;-~]+$/
/** Headers that fields of the message set, or that describe its body. */
const OWN_HEADERS = /^(from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*)$/i

/**
 * Checks a message and copies its known keys. An unknown key (`path`, `raw`, `envelope`) never reaches nodemailer.
 * @throws MailError `MAIL_INVALID_MESSAGE`, naming the field.
 */
export function prepareMessage(
  message: unknown,
  { from, parse }: { from: string; parse: ParseAddresses },
): PreparedMessage {
  const source = asRecord(message, 'the message')
  const senders = readAddresses('from', source['from'] ?? from, parse)
  if (senders.length !== 1) throw invalid('`from` is not exactly one address')
  const to = readAddresses('to', source['to'], parse)
  if (to.length === 0) throw invalid('`to` names no recipient')
  const text = optionalText(source, 'text')
  const html = optionalText(source, 'html')
  if (text === undefined && html === undefined) throw invalid('it has neither `text` nor `html`')
  return {
    from: senders[0]!,
    to,
    cc: readAddresses('cc', source['cc'], parse),
    bcc: readAddresses('bcc', source['bcc'], parse),
    replyTo: readAddresses('replyTo', source['replyTo'], parse),
    subject: oneLine(optionalText(source, 'subject') ?? ''),
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    headers: readHeaders(source['headers']),
    attachments: readAttachments(source['attachments']),
  }
}

function readHeaders(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {}
  const entries = Object.entries(asRecord(value, '`headers`')).filter(([, text]) => text !== undefined)
  for (const [name, text] of entries) {
    if (!HEADER_NAME.test(name)) throw invalid('`headers` has a name that is not a header name')
    if (OWN_HEADERS.test(name)) throw invalid(`the header \`${name}\` is set by the message's own fields`)
    if (typeof text !== 'string') throw invalid(`the header \`${name}\` is not a string`)
  }
  return Object.fromEntries(entries.map(([name, text]) => [name, oneLine(text as string)]))
}

function readAttachments(value: unknown): PreparedAttachment[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalid('`attachments` is not an array')
  return value.map((item: unknown) => {
    const source = asRecord(item, 'an attachment')
    const contentType = optionalText(source, 'contentType')
    const cid = optionalText(source, 'cid')
    return {
      filename: oneLine(optionalText(source, 'filename') ?? 'attachment'),
      content: contentOf(source['content']),
      ...(contentType === undefined ? {} : { contentType: oneLine(contentType) }),
      ...(cid === undefined ? {} : { cid: oneLine(cid) }),
    }
  })
}

function contentOf(content: unknown): Buffer {
  if (typeof content === 'string') return Buffer.from(content)
  if (content instanceof Uint8Array) return Buffer.from(content)
  throw invalid("an attachment's `content` is neither a string nor a Buffer")
}

function optionalText(source: Record<string, unknown>, field: string): string | undefined {
  const value = source[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid(`\`${field}\` is not a string`)
  return value
}

/** A line break in a header would start another header (CWE-93): it becomes a space, as nodemailer itself does. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- it replaces control characters
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ')
}

function asRecord(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw invalid(`${what} is not an object`)
  return value as Record<string, unknown>
}

function invalid(what: string): MailError {
  return new MailError('MAIL_INVALID_MESSAGE', `The mail was not sent: ${what}.`)
}
