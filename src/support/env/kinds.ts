import { parseAddressRange } from '../address-range.ts'
import { bytes } from '../bytes.ts'
import { seconds } from '../duration.ts'
import { weaknessOfSecret } from '../weak-secret.ts'

/** A kind of variable: its name in messages, an example, and the parser of its string. */
export interface Kind<T> {
  /** Continues "PORT is not …": `a port, an integer from 0 to 65535`. */
  readonly expected: string
  readonly example: string
  /** Placeholder for a value while a process only inspects the application; by default the example. */
  readonly placeholder?: string
  /** @returns the value, or undefined for an invalid string. */
  readonly parse: (text: string) => T | undefined
}

/** Bounds of a number, both included. */
export interface Range {
  readonly min?: number
  readonly max?: number
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const TRUE = new Set(['true', '1', 'yes', 'on'])
const FALSE = new Set(['false', '0', 'no', 'off'])

/** Any string, unchanged. */
export const text: Kind<string> = { expected: 'a string', example: 'value', parse: (raw) => raw }

/**
 * A string whose example is the given one or the default, where a shell takes that as it is. A default that is an absolute
 * path is not shown: it often leads into the build, which the next build deletes. Both are values that the application
 * accepts, so they are the placeholder too.
 */
export function textLike(byDefault: unknown, given?: string): Kind<string> {
  const example = given ?? (/^(?:[A-Za-z]:)?\//.test(String(byDefault)) ? '/path' : byDefault)
  const accepted = given ?? byDefault
  return {
    ...text,
    ...(typeof example === 'string' && /^[\w@%+=:,./-]+$/.test(example) && { example }),
    placeholder: typeof accepted === 'string' ? accepted : text.example,
  }
}

/** A string that must not be guessable. The example is a command, so that nobody pastes a value. */
export const secret: Kind<string> = {
  expected: 'a secret',
  example: '"$(openssl rand -base64 32)" in a shell. In .env, write the output of the command',
  placeholder: 'no secret: this process only inspects the application',
  parse: (raw) => (raw.trim() === '' ? undefined : raw),
}

/** A random key to sign or encrypt with, which is not guessable. */
export const strongSecret: Kind<string> = {
  ...secret,
  expected: 'a random secret of at least 32 bytes',
  parse: (raw) => (weaknessOfSecret(raw) === undefined ? raw : undefined),
}

/** Secrets of one kind between commas, none of them empty. */
export function secrets(each: Kind<string>): Kind<string[]> {
  return {
    expected: `a list of secrets separated by ',', each ${each.expected}`,
    example: each.example,
    placeholder: secret.placeholder!,
    parse: (raw) => all(raw, each.parse),
  }
}

/** IP addresses and ranges between commas. */
export const addresses: Kind<string[]> = {
  expected: "a list of IP addresses or ranges separated by ','",
  example: '10.0.0.0/8,192.168.1.1',
  parse: (raw) => all(raw, (item) => (parseAddressRange(item) === undefined ? undefined : item)),
}

export const boolean: Kind<boolean> = {
  expected: 'true, 1, yes, on, false, 0, no or off',
  example: 'true',
  parse: (raw) => {
    const word = raw.trim().toLowerCase()
    return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined
  },
}

/** A lifetime in seconds; `'15m'` is 900. */
export const duration: Kind<number> = {
  expected: 'a duration: seconds, or a number with ms, s, m, h or d',
  example: '15m',
  parse: (raw) => attempt(() => seconds(numberOr(raw))),
}

/** A size in bytes; `'1mb'` is 1,048,576. */
export const size: Kind<number> = {
  expected: 'a size: bytes, or a number with b, kb, mb or gb',
  example: '1mb',
  parse: (raw) => attempt(() => bytes(numberOr(raw))),
}

/** A decimal, finite number within the range. */
export function number(range: Range): Kind<number> {
  return {
    expected: `a number${describeRange(range)}`,
    example: String(range.min ?? range.max ?? 1),
    parse: (raw) => withinRange(decimal(raw), range),
  }
}

/** A safe integer within the range. */
export function integer(range: Range): Kind<number> {
  return {
    expected: `an integer${describeRange(range)}`,
    example: String(range.min ?? range.max ?? 1),
    parse: (raw) => {
      const value = withinRange(decimal(raw), range)
      return Number.isSafeInteger(value) ? value : undefined
    },
  }
}

/** A TCP port; 0 lets the system choose one. */
export const port: Kind<number> = {
  ...integer({ min: 0, max: 65_535 }),
  expected: 'a port, an integer from 0 to 65535',
  example: '3000',
}

/** An absolute URL, returned unchanged. `protocols` without their colon: `['http', 'https']`. */
export function url(protocols?: readonly string[]): Kind<string> {
  return {
    expected: `an absolute URL${protocols ? ` with ${protocols.join(' or ')}` : ''}`,
    example: `${protocols?.includes('https') === false ? protocols[0] : 'https'}://example.com`,
    parse: (raw) => {
      const parsed = attempt(() => new URL(raw.trim()))
      const allowed = parsed && (!protocols || protocols.includes(parsed.protocol.slice(0, -1)))
      return allowed ? raw.trim() : undefined
    },
  }
}

/** Items between separators, trimmed, without empty ones. */
export function list(separator: string): Kind<string[]> {
  return {
    expected: `a list of values separated by '${separator}'`,
    example: ['first', 'second'].join(separator),
    parse: (raw) => {
      const items = raw.split(separator).map((item) => item.trim())
      const written = items.filter((item) => item !== '')
      return written.length > 0 ? written : undefined
    },
  }
}

/** Exactly one of the given strings. */
export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  return {
    expected: `one of ${values.join(', ')}`,
    example: values[0] ?? '',
    parse: (raw) => values.find((candidate) => candidate === raw.trim()),
  }
}

/** Converts `'90'` to 90, in the plain unit. Other strings are parsed with their unit. */
function numberOr(raw: string): number | string {
  return decimal(raw) ?? raw.trim()
}

function decimal(raw: string): number | undefined {
  const trimmed = raw.trim()
  const value = DECIMAL.test(trimmed) ? Number(trimmed) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

function withinRange(value: number | undefined, { min, max }: Range): number | undefined {
  if (value === undefined) return undefined
  return value >= (min ?? -Infinity) && value <= (max ?? Infinity) ? value : undefined
}

function describeRange({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? '' : ` of at most ${max}`
}

/** Returns the trimmed items between commas if each of them can be read, and at least one is there. */
function all(raw: string, parse: (item: string) => string | undefined): string[] | undefined {
  const items = raw.split(',').map((item) => item.trim())
  const written = items.filter((item) => item !== '')
  const isGood = written.length > 0 && written.every((item) => parse(item) !== undefined)
  return isGood ? written : undefined
}

/** Parsers of URLs, sizes and durations throw for an invalid string. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
