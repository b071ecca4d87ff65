import { DatabaseUnavailable } from '@mortar/auth/provider'

/** Names of the driver's errors for a server that cannot be reached, or whose connections were closed. */
const UNREACHABLE =
  /^Mongo(?:Network|NetworkTimeout|ServerSelection|OperationTimeout|NotConnected|TopologyClosed|ClientClosed|PoolCleared|PoolClosed|WaitQueueTimeout)Error$|^MongoPoolClearedOnNetworkError$|^PoolClearedOnNetworkError$/

/**
 * Codes of a server that cannot respond now: it stops, is not the primary, or reached a time limit. MongoDB's list of
 * retryable errors, with 50 (MaxTimeMSExpired) and 64 (WriteConcernTimeout).
 */
const NOT_NOW = new Set([
  6, 7, 50, 64, 89, 91, 133, 134, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436,
])

/** `InternalError`: any failure of a server inside, and FerretDB's code while its own database is away. */
const INTERNAL = 1
/** Words of PostgreSQL and of FerretDB's client for a database that cannot be reached or stops (SQLSTATE 08, 57P0x). */
const AWAY =
  /failed to connect|connection (?:refused|reset|closed|timed out)|conn closed|terminating connection|unexpected EOF|broken pipe|i\/o timeout|no route to host|the database system is|too many clients|SQLSTATE (?:08|53300|57P0)/i

const DUPLICATE_KEY = 11_000
/** The code of servers on DocumentDB for a victim of a deadlock in PostgreSQL. */
const DEADLOCK = 16_908_292

/**
 * Converts an error of the driver. It keeps the message and the code, because its other members may contain the
 * document. A server that cannot be reached becomes a 503.
 */
export function translateDriverError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const { name, code } = error as Error & { readonly code?: unknown }
  const known = Object.assign(new Error(`${name}: ${withoutValues(error.message)}`), { code })
  const isAway = isUnavailable(name, code) || (code === INTERNAL && AWAY.test(error.message))
  return isAway ? new DatabaseUnavailable(known) : known
}

/** True for a failure inside the server, whose message may describe the server's own database. */
export function isInternal(error: unknown): boolean {
  return codeOf(error) === INTERNAL
}

function isUnavailable(name: string, code: unknown): boolean {
  return UNREACHABLE.test(name) || NOT_NOW.has(code as number)
}

/** Removes the value of a duplicate key, everything with an @ (an address, the user part of a URL), and a server's own settings. */
function withoutValues(message: string): string {
  return message
    .replace(/ dup key: .*$/s, '')
    .replace(/Key \(.*?\)=\(.*$/s, 'Key (…)')
    .replaceAll(/\b(user|password|database|dbname|host)=[^\s`'"),]+/g, '$1=…')
    .replaceAll(/[^\s"'()<>[\]{}:,=/]*(?::[^\s@]*)?@[^\s"'()<>[\]{},]+/g, '…')
}

/** True if a unique index refused a write. */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY
}

/** True if the server gave up a write because of a deadlock; the write had no effect. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === DEADLOCK || (error instanceof Error && /deadlock detected/i.test(error.message))
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code
}
