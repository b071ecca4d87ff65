import type { ServerMessages } from '../compat/pg.ts'
import type { PoolLimits } from './pool-limits.ts'
import { markOwn } from './unavailable.ts'

/** The code of PostgreSQL for a write that a standby, or a read-only transaction, refuses. */
const READ_ONLY_TRANSACTION = '25006'

/** Settings that PostgreSQL 14 and later report whenever they change. A server that can write has both off. */
const ROLE = ['in_hot_standby', 'default_transaction_read_only']

/** The state of a PostgreSQL session without an open transaction. */
const IDLE = 'I'

/** Settings of a PostgreSQL session that refuses writes, sent with its start. */
export const READ_ONLY_SESSION = { default_transaction_read_only: 'on' }

/** The statement for a session of MariaDB or MySQL that refuses writes. */
export const REFUSE_WRITES = 'SET SESSION TRANSACTION READ ONLY'

/**
 * Calls `act` when the server refuses a write because it accepts none. In a transaction on a server that is known to accept
 * writes, the application's own transaction was read-only, which is a mistake of the application. A statement alone is
 * refused by the server only, which reports a changed setting after the error.
 */
export function noticeReadOnly(
  connection: ServerMessages,
  { refusesWrites }: Pick<PoolLimits, 'refusesWrites'>,
  act: () => void,
): void {
  const role = new Map<string, string>()
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    if (ROLE.includes(parameterName)) role.set(parameterName, parameterValue)
  })
  let isAlone = true
  connection.on('readyForQuery', ({ status }) => {
    isAlone = status === IDLE
  })
  connection.on('errorMessage', (error) => {
    if (error.code !== READ_ONLY_TRANSACTION) return
    const isWriter = !isAlone && ROLE.every((name) => role.get(name) === 'off')
    if (refusesWrites() || isWriter) markOwn(error)
    else act()
  })
}

/** MySQL: the mode of a replica, and InnoDB's own mode. MariaDB names the table instead. */
const READ_ONLY_SERVER = new Set([1836, 1874, 1036])
const OPTION_PREVENTS = 1290

/** True for the error of a MariaDB or MySQL server that accepts no writes. */
function isReadOnlyServer(error: unknown): boolean {
  const { errno, message } = (error ?? {}) as { readonly errno?: number; readonly message?: string }
  if (errno === OPTION_PREVENTS) return /read[-_]only/.test(String(message))
  return errno !== undefined && READ_ONLY_SERVER.has(errno)
}

/** Arguments of a statement, whose callback first calls `end`, and `act` if the server accepts no writes. */
export function noticingReadOnly(
  args: readonly unknown[],
  act: () => void,
  end: () => void,
): readonly unknown[] {
  const callback = args.at(-1)
  if (typeof callback !== 'function') return args
  const noticed = (error: unknown, ...rest: readonly unknown[]): unknown => {
    end()
    if (error && isReadOnlyServer(error)) act()
    return callback(error, ...rest)
  }
  return [...args.slice(0, -1), noticed]
}
