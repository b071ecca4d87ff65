/*
 * The undocumented parts of mysql2 3 on which this brick relies:
 *
 * 1. `connection.stream` is the socket. The option `stream` may be a function, which makes the socket from the settings
 *    in `config` of its argument. Fallback: a pool without the watch of silent connections.
 *
 * test/plugins/database/drifted-packages.test.ts renames them in a copy of mysql2.
 */
import { connect, Socket } from 'node:net'

const ignore = (): void => undefined

/** A connection with the undocumented parts. */
export interface MysqlInsides {
  readonly stream: Socket
}

/** The argument of the option `stream`. */
export interface StreamRequest {
  readonly config: {
    readonly socketPath?: string
    readonly host: string
    readonly port: number
    readonly enableKeepAlive?: boolean
    readonly keepAliveInitialDelay?: number
  }
}

interface MysqlModule {
  createConnection(options: object): MysqlInsides & {
    on(event: 'error', listener: () => void): unknown
    destroy(): void
  }
}

/** Returns the socket of a connection. TLS may replace it. */
export function socketOf({ stream }: MysqlInsides): Socket {
  return stream
}

/** Opens the socket of a new connection as mysql2 does. */
export function openSocket({ config }: StreamRequest): Socket {
  const { socketPath, host, port, enableKeepAlive, keepAliveInitialDelay } = config
  const socket = socketPath ? connect(socketPath) : connect(port, host)
  socket.setNoDelay(true)
  if (enableKeepAlive) socket.once('connect', () => socket.setKeepAlive(true, keepAliveInitialDelay))
  return socket
}

/** True if a connection uses the socket of the option `stream`, tells it the settings, and shows it. */
export function canWatchMysql(mysql: MysqlModule): boolean {
  const socket = new Socket()
  let config: Partial<StreamRequest['config']> | undefined
  try {
    const connection = mysql.createConnection({
      host: 'localhost',
      port: 3306,
      enableKeepAlive: true,
      keepAliveInitialDelay: 1,
      connectTimeout: 0,
      stream(given: Partial<StreamRequest>) {
        config = given.config
        return socket
      },
    })
    connection.on('error', ignore)
    const isShown = connection.stream === socket
    connection.destroy()
    const { host, port, enableKeepAlive, keepAliveInitialDelay } = config ?? {}
    return (
      isShown && [host, port, enableKeepAlive, keepAliveInitialDelay].join(' ') === 'localhost 3306 true 1'
    )
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
