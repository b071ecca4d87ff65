import { unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { LONGEST_SOCKET_PATH } from '../../app/serve/listen-options.ts'
import type { Logger } from '../../contracts/logger.ts'
import { ignore } from '../../support/ignore.ts'
import { makeFolder } from '../../support/make-folder.ts'
import type { ReloadOutcome } from './reload.ts'

/** Name of the socket in the state folder. */
const SOCKET = 'control.sock'
/** Milliseconds in which a client sends its command. */
const PATIENCE = 5000
const MOST_CLIENTS = 16

/** The command of a client, which ends its half of the connection. */
export const RELOAD = 'mortar:reload'

/** First line of the reply; the outcome follows when the reload has ended. */
export const ACCEPTED = { outcome: 'accepted' } as const

/** Returns the path of the socket on which a primary process listens for the commands of an operator. */
export function controlSocket(folder: string): string {
  return join(folder, SOCKET)
}

interface ControlContext {
  readonly reload: () => Promise<ReloadOutcome>
  readonly log: Logger
}

/**
 * Listens for `mortar reload` on a Unix socket that only the same user and root can open. A process that ends leaves the
 * file, but nobody can connect to it, so that it is never mistaken for a running process as an old pid would be. Where
 * the socket cannot be made, the signals work, and a line of the log has the reason.
 * @returns a function that closes it.
 */
export async function openControl(folder: string, context: ControlContext): Promise<() => void> {
  // The reload of workers needs signals, which Windows does not have.
  if (process.platform === 'win32') return ignore
  const server = createServer({ allowHalfOpen: true }, (socket) => void serve(socket, context))
  server.maxConnections = MOST_CLIENTS
  try {
    await listenAlone(server, controlSocket(folder), folder)
  } catch (error) {
    const fields = { event: 'control.failed', reason: (error as Error).message }
    context.log.warn(fields, '`mortar reload` cannot reach this process. Name a folder in FRAMEWORK_STATE.')
    return ignore
  }
  server.unref()
  return () => void server.close()
}

async function listenAlone(server: Server, path: string, folder: string): Promise<void> {
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH)
    throw new Error(`The path ${path} is longer than ${LONGEST_SOCKET_PATH} bytes.`)
  makeFolder(folder, 0o700)
  try {
    await listen(server, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    if (await isServed(path)) throw new Error(`Another process listens at ${path}.`, { cause: error })
    unlinkSync(path)
    await listen(server, path)
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // The file exists when `listen` returns, so at no moment another user can connect.
    const before = process.umask(0o177)
    server.listen(path, () => {
      server.off('error', reject).on('error', ignore)
      resolve()
    })
    process.umask(before)
  })
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('close', () => resolve(false)).setTimeout(PATIENCE, () => socket.destroy())
    socket.once('connect', () => socket.destroy())
  })
}

async function serve(socket: Socket, { reload }: ControlContext): Promise<void> {
  const late = setTimeout(() => socket.destroy(), PATIENCE)
  const command = await readAll(socket)
  clearTimeout(late)
  if (command !== RELOAD) return void socket.destroy()
  const outcome = reload()
  socket.write(`${JSON.stringify(ACCEPTED)}\n`)
  socket.end(`${JSON.stringify(await outcome)}\n`)
}

/** Reads the half of the client. An iterator of the socket would close both halves. */
function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let command = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      command += part
      if (command.length > RELOAD.length) socket.destroy()
    })
    socket.on('error', ignore).on('end', () => resolve(command))
    socket.on('close', () => resolve(''))
  })
}
