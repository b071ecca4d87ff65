import { errorChain } from './error-chain.ts'

/** Meaning of an error of a database: it cannot be reached or cannot write, or it is busy and the transaction can be repeated. */
export type DatabaseFault = 'unavailable' | 'busy'

/** Returns the meaning of an error of a database driver or its pool; undefined for any other error. */
export function databaseFaultOf(error: unknown): DatabaseFault | undefined {
  const [each] = errorChain(error, 1)
  if (each === undefined) return undefined
  const { code, errno, message } = each
  if (errno === MARIADB_STATEMENT_TIMEOUT) return 'busy'
  // The option that prevents a statement can also be another one.
  if (code === 'ER_OPTION_PREVENTS_STATEMENT')
    return /read[-_]only/.test(String(message)) ? 'unavailable' : undefined
  const [patterns, text] = typeof code === 'string' ? [CODES, code] : [MESSAGES, String(message)]
  return patterns.find(([, pattern]) => pattern.test(text))?.[0]
}

type Patterns = readonly (readonly [DatabaseFault, RegExp])[]

/**
 * Codes of PostgreSQL (5 characters), of MariaDB and MySQL (`ER_…`), of SQLite and of Node. A deadlock, a cancelled
 * statement and a failed serialization are busy: the transaction was rolled back and can be repeated. A server that
 * accepts no writes is unavailable: after a failover, the connection leads to the wrong server. So is a full or failing
 * disk, and a node of Galera that is outside its cluster (`ER_UNKNOWN_COM_ERROR`).
 */
const CODES: Patterns = [
  ['unavailable', /^(08...|57P0[1235]|25P0[34]|25006|53100|58030)$/],
  ['busy', /^(40001|40P01|53[234]00|55P03|57014)$/],
  [
    'unavailable',
    /^(PROTOCOL_CONNECTION_LOST|ER_(SERVER_SHUTDOWN|NORMAL_SHUTDOWN|CONNECTION_KILLED|UNKNOWN_COM_ERROR|NEW_ABORTING_CONNECTION|READ_ONLY_MODE|INNODB_READ_ONLY|OPEN_AS_READONLY|DISK_FULL|RECORD_FILE_FULL))$/,
  ],
  [
    'busy',
    /^ER_(CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|USER_LIMIT_REACHED|LOCK_WAIT_TIMEOUT|LOCK_DEADLOCK|CHECKREAD|QUERY_TIMEOUT|QUERY_INTERRUPTED)$/,
  ],
  ['busy', /^SQLITE_(BUSY|LOCKED)/],
  ['unavailable', /^SQLITE_(FULL|IOERR)/],
  [
    'unavailable',
    /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/,
  ],
]

/** mysql2 has no name for this number. */
const MARIADB_STATEMENT_TIMEOUT = 1969

/** Messages of pg, of mysql2, of their pools and of the database brick without a code. */
const MESSAGES: Patterns = [
  [
    'unavailable',
    /^(Connection terminated|Client (has encountered|was closed)|Can't add new command|The database (has not answered|connection was silent))|closed state$/,
  ],
  [
    'busy',
    /^(No database connection became free|timeout exceeded when trying to connect|No connections available|Queue limit reached)/,
  ],
]

/**
 * True for an error that a server has caused, or a disk, which cannot be reached, is full or is busy; also as a cause.
 * An error of a brick is one with the member `isOutage: true`, and names its server with `hostname`.
 */
export function isOutage(error: unknown): boolean {
  return errorChain(error).some((each) => each.isOutage || databaseFaultOf(each.error) !== undefined)
}

/** Returns the code of an error of a driver: `40P01`, `ER_DUP_ENTRY`; `undefined` as a string without one. */
export function errorCode(error: unknown): string {
  return String(errorChain(error, 1)[0]?.code)
}

/** Deadlocks, and failed serializations of PostgreSQL and MariaDB: the server has rolled the statement back. */
const ROLLED_BACK = new Set(['ER_LOCK_DEADLOCK', 'ER_CHECKREAD', '40P01', '40001'])

/**
 * Runs a single statement, and runs it again if the server has rolled it back.
 * @throws the last error after `tries` attempts, and any other error.
 */
export async function retryRolledBack<T>(statement: () => Promise<T>, tries = 10): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await statement()
    } catch (error) {
      if (attempt === tries || !ROLLED_BACK.has(errorCode(error))) throw error
    }
}
