/** Replaces a secret in a log line. */
export const REDACTED = '[redacted]'

const SECRET_NAME =
  /(?:(?:password|passwd|passphrase|passcode|pwd|secret|token|jwt|otp)(?:hash|digest|value)?|apikey|accesskey|privatekey|signingkey|authorization|cookie|credential)s?$/
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

const PARAMETER = /([?&#;]([\w.[\]-]{1,64})=)[^&#;\s"'<>]+/g
const USER_PART = /(:\/\/)[^\s/@"'<>]+@/g
const SCHEME = /\b(Bearer|Basic|DPoP) +([\w.~+/-]{4,}=*)/gi
const JWT = /\beyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{0,4096}/g
const JSON_MEMBER = /("([\w-]{1,64})"\s{0,9}:\s{0,9})"(?:[^"\\]|\\.)*"/g

/**
 * Removes recognisable credentials from a string: query parameters such as `access_token`, the user part of
 * a URL, `Bearer …`, JSON Web Tokens, and members of JSON text. A string beyond 32,768 characters is cut.
 */
export function redactText(text: string): string {
  let shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text
  if (shown.includes('=')) shown = shown.replace(PARAMETER, hideParameter)
  if (shown.includes('@')) shown = shown.replace(USER_PART, `$1${REDACTED}@`)
  if (shown.includes('":')) shown = shown.replace(JSON_MEMBER, hideMember)
  if (shown.includes(' ')) shown = shown.replace(SCHEME, hideCredential)
  return shown.includes('eyJ') ? shown.replace(JWT, REDACTED) : shown
}

function hideParameter(whole: string, start: string, name: string): string {
  return isSecretName(name) ? start + REDACTED : whole
}

function hideMember(whole: string, start: string, name: string): string {
  return isSecretName(name) ? `${start}"${REDACTED}"` : whole
}

/** "Basic authentication" is prose: a credential has more than letters, or is long. */
function hideCredential(whole: string, scheme: string, value: string): string {
  return /^[a-z.]{1,19}$/i.test(value) ? whole : `${scheme} ${REDACTED}`
}
