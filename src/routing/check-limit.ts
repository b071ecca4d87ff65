import { parseLimit } from '../limits/parse-limit.ts'
import type { Limit } from '../contracts/limiter.ts'
import { describeValue, isPlainObject } from '../support/describe-value.ts'
import { nearest } from '../support/nearest.ts'
import type { Finding } from './finding.ts'

const KEYS = ['limit', 'window', 'by']
const SUBJECTS = ['ip', 'user', 'credential']
/** Names of the keys in other frameworks. */
const NEAR: Readonly<Record<string, string>> = {
  max: 'limit',
  points: 'limit',
  requests: 'limit',
  duration: 'window',
  ttl: 'window',
  timewindow: 'window',
  windowms: 'window',
  key: 'by',
  per: 'by',
  keygenerator: 'by',
}
const EXAMPLE = "{ limit: 100, window: '1m', by: 'ip' }"

/** Checks `limit` of a route: a limit, the name of a rule, a list of them, or false. */
export function checkLimit(key: string, value: unknown): Finding[] {
  if (value === false || isName(value)) return []
  if (!Array.isArray(value)) return checkOne(key, value)
  if (value.length === 0) return [finding(`has an empty list as \`${key}\``, `Write ${EXAMPLE}, or false.`)]
  return value.flatMap((item, index) => (isName(item) ? [] : checkOne(`${key}[${index}]`, item)))
}

/** Checks one limit with its subject, such as a rule of the service `limiter`. */
export function checkOne(key: string, value: unknown): Finding[] {
  if (!isPlainObject(value))
    return [
      finding(
        `has ${describeValue(value)} as \`${key}\`, which is not a limit`,
        `Write ${EXAMPLE}, or the name of a rule, or a list of both.`,
      ),
    ]
  const unknown = Object.keys(value).filter((name) => !KEYS.includes(name))
  return [
    ...unknown.map((name) => unknownKey(key, name)),
    ...checkNumbers(key, value),
    ...checkBy(key, value),
  ]
}

function unknownKey(key: string, name: string): Finding {
  const near = NEAR[name.toLowerCase()] ?? nearest(name, KEYS)
  return finding(
    `has "${name}" in \`${key}\`, which is not a key of a limit`,
    near === undefined ? 'Its keys are `limit`, `window` and `by`.' : `Did you mean "${near}"?`,
  )
}

function checkNumbers(key: string, value: Readonly<Record<string, unknown>>): Finding[] {
  try {
    // The call checks the types of both values.
    parseLimit(value as unknown as Limit)
    return []
  } catch (error) {
    return [finding(`has \`${key}\`, which ${(error as Error).message.slice(0, -1)}`, `Write ${EXAMPLE}.`)]
  }
}

function checkBy(key: string, { by }: Readonly<Record<string, unknown>>): Finding[] {
  if (typeof by === 'function' || SUBJECTS.includes(by as string)) return []
  const near = typeof by === 'string' ? nearest(by, SUBJECTS) : undefined
  return [
    finding(
      `has ${by === undefined ? 'no `by`' : `${describeValue(by)} as \`by\``} in \`${key}\``,
      near === undefined
        ? "Write 'ip', 'user', 'credential', or a function (ctx) => string | null."
        : `Did you mean '${near}'?`,
    ),
  ]
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function finding(found: string, remedy: string): Finding {
  return { code: 'MORTAR_ROUTE_LIMIT', found, remedy }
}
