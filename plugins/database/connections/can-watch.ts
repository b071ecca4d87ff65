import { Socket } from 'node:net'

/** The parts of the package `pg` that are checked. */
interface PgModule {
  readonly Client: new (options: object) => { readonly connection: { readonly stream: unknown } }
}

/** The parts of the package `mysql2` that are checked. */
interface MysqlModule {
  createConnection(options: object): {
    readonly stream: unknown
    on(event: 'error', listener: () => void): unknown
    destroy(): void
  }
}

/** True if a client shows its socket, which pg does not document. */
export function canWatchPg(pg: PgModule): boolean {
  try {
    return isSocket(new pg.Client({}).connection.stream)
  } catch {
    return false
  }
}

/** True if a connection uses the socket of the option `stream` and shows it, which mysql2 does not document. */
export function canWatchMysql(mysql: MysqlModule): boolean {
  const socket = new Socket()
  try {
    const connection = mysql.createConnection({ stream: () => socket, connectTimeout: 0 })
    connection.on('error', () => undefined)
    const isShown = connection.stream === socket
    connection.destroy()
    return isShown
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** True for a value with the members of a socket that the watch uses. */
function isSocket(value: unknown): boolean {
  const { once, destroy, isPaused, bytesRead } = (value ?? {}) as Partial<Socket>
  return (
    [once, destroy, isPaused].every((member) => typeof member === 'function') && typeof bytesRead === 'number'
  )
}
