import { MailError } from './mail-error.ts'

/** A mailbox: display name (may be empty) and address. */
export interface MailAddress {
  readonly name: string
  readonly address: string
}

/** nodemailer's address parser, so that the check and the sent header agree. */
export type ParseAddresses = (
  text: string,
) => readonly { readonly name: string; readonly address?: string | undefined; readonly group?: unknown }[]

/** One `@`, and no character with a meaning of its own in an address list or on an SMTP line. */
const ADDRESS = /^[^\s@<>()[\]",;:\\]+@[^\s@<>()",;\\]+$/u
const MAX_LENGTH = 254
// oxlint-disable-next-line no-control-regex -- it finds control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/**
 * Reads one field of addresses. A string may be a list with commas; an entry of an array is exactly one address, so
 * that a value from outside cannot add recipients.
 * @throws MailError `MAIL_INVALID_MESSAGE`, naming the field and never the value.
 */
export function readAddresses(field: string, value: unknown, parse: ParseAddresses): MailAddress[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return readList(field, value, parse)
  if (!Array.isArray(value)) throw invalid(field, 'is neither a string nor an array of strings')
  return value.map((entry: unknown) => {
    if (typeof entry !== 'string') throw invalid(field, 'has an entry that is not a string')
    const [address, ...more] = readList(field, entry, parse)
    if (!address || more.length > 0) throw invalid(field, 'has an entry that is not exactly one address')
    return address
  })
}

/** Several mailboxes as one readable line: `Ada <ada@example.com>, bob@example.com`. */
export function formatAddresses(addresses: readonly MailAddress[]): string {
  return addresses.map(({ name, address }) => (name === '' ? address : `${name} <${address}>`)).join(', ')
}

function readList(field: string, text: string, parse: ParseAddresses): MailAddress[] {
  if (CONTROL.test(text)) throw invalid(field, 'contains a line break or another control character')
  return parse(text).map(({ name, address, group }) => {
    if (group !== undefined) throw invalid(field, 'contains a group of addresses')
    if (!address || address.length > MAX_LENGTH || !ADDRESS.test(address))
      throw invalid(field, 'contains something that is not an e-mail address')
    // The parser guesses at `two words@example.com`; mail must not go to an address that was never written.
    if (name !== '' && !text.includes(`<${address}>`))
      throw invalid(field, 'contains an address with stray text around it')
    return { name, address }
  })
}

function invalid(field: string, what: string): MailError {
  return new MailError(
    'MAIL_INVALID_MESSAGE',
    `The mail was not sent: \`${field}\` ${what}. Write 'ada@example.com' or 'Ada <ada@example.com>'.`,
  )
}
