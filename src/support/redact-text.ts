/** Replaces a secret in a log line. */
export const REDACTED = '[redacted]'

const SECRET_NAME =
  /(?:(?:password|passwd|passphrase|passcode|pwd|secret|token|jwt|otp)(?:hash|digest|value|new|old|repeat|again|confirm|confirmation)?|(?:api|access|private|signing|secret|encryption|master)key|(?:recovery|backup)code|ticket|signature|bearer|authorization|cookie|credential)s?\d?$|^pass$|mortar(?:refresh|device|token)$/
const SEPARATORS = /[-_.\s[\]]/g

/** Cache of checked names. Bounded: names come from code, but a header or key may come from a client. */
const judged = new Map<string, boolean>()
const MOST_JUDGED = 2000

/**
 * True for a name that indicates a secret value, in any spelling: `password`, `X-Api-Key`, `refreshToken`,
 * `token_hash`.
 */
export function isSecretName(name: string): boolean {
  const known = judged.get(name)
  if (known !== undefined) return known
  const isSecret = name.length <= 100 && SECRET_NAME.test(name.toLowerCase().replace(SEPARATORS, ''))
  if (judged.size >= MOST_JUDGED) judged.clear()
  judged.set(name, isSecret)
  return isSecret
}

/** Maximum characters of a string in a log line. */
const LONGEST = 32_768

/** A name with its separator, in a form (also encoded), a header, JSON (also inside JSON) or the output of `util.inspect`. */
const NAMED = /(?<![\w.[\]-])([\w.[\]-]{1,64})\\{0,8}["']?\s{0,3}(?:[:=]>?|%3[ad])\s{0,3}/gi
/** A value: quoted, a list or object in brackets, or bare. Each form always matches, so that the time is linear. */
const VALUE = /"(?:[^"\\]|\\.)*"?|\\{1,8}"[^"]*"?|'(?:[^'\\]|\\.)*'?|[[{][^\]}]*[\]}]?|[^&#;\s"'<>,)}\]]+/y
/** The whole line of a header with several values. */
const LINE = /[^\r\n"'}\]]+/y
/** The user part ends at the last @, since people write passwords with @ and / unescaped. */
const WORD_WITH_USER = /[^\s"'<>]*@[^\s"'<>]*/g
const SCHEME = /\b(Bearer|Basic|DPoP)[ \t]+([\w.~+/-]{4,}=*)/gi
const JWT = /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{0,4096}/g
const PRIVATE_KEY = /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]*/g
/** The body of change-password, as JSON or shown by `util.inspect`. */
const PASSWORD_CHANGE =
  /(\{\s{0,9}["']?current["']?:\s?)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(,\s{0,9}["']?next["']?:\s?)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?=\s{0,9}\})/g
const CODE = /([?&]code=)[^&#;\s"'<>]+/g

/**
 * Removes recognisable credentials from a string: values with a secret name (`password=…`, `Cookie: …`, JSON,
 * `util.inspect`), the user part of a URL, `Bearer …`, private keys and JSON Web Tokens. A string beyond 32,768 characters is cut.
 */
export function redactText(text: string): string {
  let shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text
  if (shown.includes('@') && shown.includes('://')) shown = shown.replace(WORD_WITH_USER, hideUser)
  if (/bearer|basic|dpop/i.test(shown)) shown = shown.replace(SCHEME, hideCredential)
  if (/[=:]|%3[ad]/i.test(shown)) shown = hideNamed(shown)
  if (shown.includes('current')) shown = shown.replace(PASSWORD_CHANGE, `$1"${REDACTED}"$2"${REDACTED}"`)
  if (shown.includes('PRIVATE KEY')) shown = shown.replace(PRIVATE_KEY, `$1${REDACTED}`)
  if (shown.includes('code=')) shown = shown.replace(CODE, `$1${REDACTED}`)
  return shown.includes('eyJ') ? shown.replace(JWT, REDACTED) : shown
}

function hideNamed(text: string): string {
  let shown = ''
  let from = 0
  NAMED.lastIndex = 0
  for (let found = NAMED.exec(text); found !== null; found = NAMED.exec(text)) {
    const [start, name] = [NAMED.lastIndex, found[1]!]
    if (!isSecretName(name)) continue
    const value = valueAt(text, start, found[0])
    if (value === undefined || isProse(name, value)) continue
    const [quote] = /^(?:\\*["'])?/.exec(value)!
    shown += `${text.slice(from, start)}${quote}${REDACTED}${quote}`
    from = start + value.length
    NAMED.lastIndex = from
  }
  return from === 0 ? text : shown + text.slice(from)
}

/** Returns the value behind a name, or undefined if it is hidden already. */
function valueAt(text: string, start: number, named: string): string | undefined {
  const isHeader = HEADER.test(named) && !/["'\\[{]/.test(text.charAt(start))
  const pattern = isHeader ? LINE : VALUE
  pattern.lastIndex = start
  const value = pattern.exec(text)?.[0]
  return value?.includes(REDACTED) ? undefined : value
}

const HEADER = /^(?:set-cookie|cookie|(?:proxy-)?authorization)\s*:/i

/** "Invalid token: expired" is prose, and so is a literal of JSON. A password may be any word. */
function isProse(name: string, value: string): boolean {
  return (
    /^(?:true|false|null|undefined|\d{1,3})$/.test(value) ||
    (/tokens?$/i.test(name) && /^[a-z]{1,19}[.:]?$/i.test(value))
  )
}

function hideUser(word: string): string {
  const start = word.indexOf('://') + 3
  if (start === 2) return word
  const rest = word.slice(start)
  const authority = /^[^/?#]*/.exec(rest)![0]
  // Beyond a user part, or a colon without a port behind it, a slash may belong to the password.
  const isCut = authority.includes('@') || /^(?!\[).*:(?!\d*$)/.test(authority)
  const end = (isCut ? rest : authority).lastIndexOf('@')
  return end === -1 ? word : `${word.slice(0, start)}${REDACTED}${rest.slice(end)}`
}

/** "Basic authentication" is prose: a credential has more than letters, or is long. */
function hideCredential(whole: string, scheme: string, value: string): string {
  return /^[a-z.]{1,19}$/i.test(value) ? whole : `${scheme} ${REDACTED}`
}
