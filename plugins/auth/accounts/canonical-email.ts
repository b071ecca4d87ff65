import { domainToASCII, domainToUnicode } from 'node:url'

const MOST_BYTES = 254
const MOST_LOCAL_BYTES = 64
/** Characters that an address may not contain: controls, whitespace, lone surrogates and invisible characters (U+3164, U+FE0F). */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\p{Default_Ignorable_Code_Point}]/u
/** Dot-atom of RFC 5321 and 6531: no quotes, no comments, no list separators of a mail header. */
const LOCAL = /^[^\s@"(),:;<>[\\\].]+(?:\.[^\s@"(),:;<>[\\\].]+)*$/u
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Converts an e-mail address to the form for validation, storage, look-up and rate-limit keys: NFC, trimmed, lower-case,
 * with the domain in the Unicode form of IDNA. Never throws.
 * @returns null for a string that is not an address of at most 254 bytes with one `@`.
 */
export function canonicalEmail(input: unknown): string | null {
  // Longer than any valid address before normalisation, so it is refused before any work.
  if (typeof input !== 'string' || input.length > 4 * MOST_BYTES) return null
  const text = input.normalize('NFC').trim().toLowerCase().normalize('NFC')
  if (UNSEEN.test(text)) return null
  const [local, domain, ...more] = text.split('@')
  if (!local || !domain || more.length > 0 || !isLocal(local)) return null
  const canonicalDomain = unicodeDomain(domain)
  if (canonicalDomain === null) return null
  const email = `${local}@${canonicalDomain}`
  return Buffer.byteLength(email) <= MOST_BYTES ? email : null
}

function isLocal(local: string): boolean {
  return LOCAL.test(local) && Buffer.byteLength(local) <= MOST_LOCAL_BYTES
}

/** A label that cannot be decoded. Node 24 and later leave it as it is; Node before 24 refuses the whole name. */
const BROKEN_LABEL = /(?:^|\.)xn--/

/** Converts both spellings of an international domain name to one, so that one mailbox is one account. */
function unicodeDomain(domain: string): string | null {
  if (!DOMAIN.test(domain)) return null
  const ascii = domainToASCII(domain)
  const labels = ascii.split('.')
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null
  // A name that ends in a number is a form of IP address.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!)) return null
  const unicode = domainToUnicode(ascii).normalize('NFC')
  return DOMAIN.test(unicode) && !BROKEN_LABEL.test(unicode) ? unicode : null
}
