import type { MailAddress } from './addresses.ts'

const SECRET_KEY = /pass|secret|token|key|credential|authorization/i
const URL_CREDENTIALS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi
/** A word that can be base64 of a credential. */
const ENCODED = /[A-Za-z0-9+/]{4,}={0,2}/g
const MAX_DEPTH = 5
const MIN_LENGTH = 3

/**
 * Collects the credentials of a transport setting (URL, options or transporter).
 * @returns a function that removes them, and the user part of any URL, from a string.
 */
export function createRedactor(...settings: readonly unknown[]): (text: string) => string {
  const found = new Set<string>()
  for (const setting of settings) collect(setting, { found, depth: 0, seen: new Set() })
  // Longest first, so that a secret that contains another is removed completely.
  const secrets = [...found].toSorted((a, b) => b.length - a.length)
  const hides = (text: string): boolean => secrets.some((secret) => text.includes(secret))
  return (text) =>
    secrets
      .reduce((rest, secret) => rest.replaceAll(secret, '***'), text.replace(URL_CREDENTIALS, '$1***@'))
      // AUTH PLAIN and AUTH LOGIN send a password in base64 (RFC 4616), and servers quote commands in their replies.
      .replace(ENCODED, (word) => (hides(Buffer.from(word, 'base64').toString()) ? '***' : word))
}

/** Extends a redactor by the recipients of a message, in their original spelling: servers quote them in replies. */
export function hideRecipients(
  { to, cc, bcc }: Readonly<Record<'to' | 'cc' | 'bcc', readonly MailAddress[]>>,
  redact: (text: string) => string,
): (text: string) => string {
  const addresses = [...to, ...cc, ...bcc].map(({ address }) =>
    address.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  )
  // Longest first, since one address may be the end of another.
  const pattern = new RegExp(addresses.toSorted((a, b) => b.length - a.length).join('|'), 'gi')
  return (text) => redact(text.replace(pattern, '***'))
}

interface Search {
  readonly found: Set<string>
  readonly depth: number
  readonly seen: Set<object>
}

function collect(value: unknown, search: Search): void {
  if (typeof value === 'string') return collectFromUrl(value, search.found)
  if (typeof value !== 'object' || value === null) return
  if (search.depth > MAX_DEPTH || search.seen.has(value) || Buffer.isBuffer(value)) return
  search.seen.add(value)
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'string' && SECRET_KEY.test(key)) addSecret(item, search.found)
    else collect(item, { ...search, depth: search.depth + 1 })
  }
}

function collectFromUrl(text: string, found: Set<string>): void {
  if (!text.includes('://') || !URL.canParse(text)) return
  const { password } = new URL(text)
  addSecret(password, found)
  try {
    addSecret(decodeURIComponent(password), found)
  } catch {
    // A password with a stray percent sign has no second spelling.
  }
}

function addSecret(secret: string, found: Set<string>): void {
  if (secret.length >= MIN_LENGTH) found.add(secret)
}
