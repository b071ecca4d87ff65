import type { HttpError } from '../../../src/index.ts'
import { DatabaseUnavailable } from '../errors.ts'

/**
 * The driver's message and code. `driverError`, named as in TypeORM's error, lets the database brick recognise a lost
 * connection or a busy database. It is not logged, because a driver may add values of the row.
 */
export class FailedStatement extends Error {
  readonly code: unknown
  readonly #driverError: Error

  constructor(driverError: Error) {
    super(driverError.message)
    this.code = (driverError as { code?: unknown }).code
    this.#driverError = driverError
  }

  get driverError(): Error {
    return this.#driverError
  }
}

/**
 * Returns the 503 for a statement of this provider whose database cannot be reached or is busy; undefined for any other
 * error. With the database brick, that brick recognises the error first and has problem codes of its own.
 */
export function explainUnavailable(error: unknown): HttpError | undefined {
  return error instanceof FailedStatement && isUnavailable(error) ? new DatabaseUnavailable(error) : undefined
}

function isUnavailable({ code, message }: FailedStatement): boolean {
  return typeof code === 'string' ? CODES.some((codes) => codes.test(code)) : MESSAGES.test(message)
}

const CODES = [
  // PostgreSQL
  /^(08...|57P0[1235]|25P0[34]|40001|40P01|53[234]00|55P03|57014)$/,
  // MariaDB and MySQL
  /^ER_(SERVER_SHUTDOWN|NORMAL_SHUTDOWN|CONNECTION_KILLED|NEW_ABORTING_CONNECTION)$/,
  /^ER_(CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|USER_LIMIT_REACHED|LOCK_WAIT_TIMEOUT|LOCK_DEADLOCK|QUERY_TIMEOUT|QUERY_INTERRUPTED)$/,
  /^PROTOCOL_CONNECTION_LOST$/,
  /^SQLITE_(BUSY|LOCKED)/,
  // Node
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/,
]

/** Errors of pg, of its pool and of mysql2 without a code. */
const MESSAGES =
  /^(Connection terminated|Client (has encountered|was closed)|Can't add new command|timeout exceeded when trying to connect|No connections available|Queue limit reached)|closed state$/
