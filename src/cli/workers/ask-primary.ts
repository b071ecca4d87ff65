import { lstatSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { StartupError } from '../../errors/startup-error.ts'
import { type ACCEPTED, controlSocket, RELOAD } from './control.ts'
import type { ReloadOutcome } from './reload.ts'

/** Milliseconds in which a primary process accepts a command. */
const PATIENCE = 5000

/** The outcome of a reload, or the state of one that has not ended. */
export type Reply = ReloadOutcome | typeof ACCEPTED | { readonly outcome: 'timeout' }

/** Time for which a command waits, in seconds; undefined if it ends when the primary process has accepted it. */
interface Wait {
  readonly limit: number | undefined
}

/**
 * Asks the primary process of a state folder to reload.
 * @throws StartupError `MORTAR_CLI_PRIMARY` if none runs, it belongs to somebody else, does not respond or ends meanwhile.
 */
export async function askToReload(folder: string, { limit }: Wait): Promise<Reply> {
  const path = controlSocket(folder)
  refuseForeign(path, folder)
  const socket = connect(path).setEncoding('utf8')
  let isAccepted = false
  let isLate = false
  const expire = (milliseconds: number): NodeJS.Timeout =>
    setTimeout(() => {
      isLate = true
      socket.destroy()
    }, milliseconds)
  let timer = expire(PATIENCE)
  socket.end(RELOAD)
  try {
    for await (const line of linesOf(socket)) {
      const reply = parse(line)
      if (reply === undefined) throw fault(path, 'belongs to another program', 'Stop that program.')
      if (reply.outcome !== 'accepted' || limit === undefined) return reply
      isAccepted = true
      clearTimeout(timer)
      timer = expire(limit * 1000)
    }
  } catch (error) {
    if (error instanceof StartupError) throw error
    if (!isAccepted) throw notAccepted(path, error as NodeJS.ErrnoException, isLate)
  } finally {
    clearTimeout(timer)
  }
  if (isAccepted && isLate) return { outcome: 'timeout' }
  if (!isAccepted) throw notAccepted(path, {}, isLate)
  throw fault(path, 'ended during the reload', 'Look at the log of the workers and at their service manager.')
}

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let rest = ''
  for await (const part of socket) {
    const lines = `${rest}${String(part)}`.split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

const OUTCOMES = ['accepted', 'completed', 'failed', 'refused']

function parse(line: string): ReloadOutcome | typeof ACCEPTED | undefined {
  try {
    const reply = JSON.parse(line) as ReloadOutcome | null
    return OUTCOMES.includes(String(reply?.outcome)) ? reply! : undefined
  } catch {
    return undefined
  }
}

/** Only root may ask the process of another user, and only in a folder to which not everybody can write. */
function refuseForeign(path: string, folder: string): void {
  const found = find(path)
  if (found === undefined) throw notRunning(path)
  if (!found.isSocket()) throw fault(path, 'is not a socket', 'Remove the file, and restart the workers.')
  const own = process.getuid?.()
  if (own === found.uid) return
  if (own !== 0)
    throw fault(path, `belongs to the user ${found.uid}`, 'Run the command as that user, or as root.')
  if ((statSync(folder).mode & 0o002) !== 0)
    throw fault(path, 'is in a folder to which every user can write', 'Set FRAMEWORK_STATE to a private one.')
}

function find(path: string): ReturnType<typeof lstatSync> {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw notAccepted(path, error as NodeJS.ErrnoException, false)
  }
}

function notAccepted(path: string, { code }: { readonly code?: string | undefined }, isLate: boolean): Error {
  if (isLate || code === undefined)
    return fault(path, 'does not respond', 'Look at the log of the primary process, and restart it if stuck.')
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return notRunning(path)
  return fault(path, `cannot be opened (${code})`, 'Run the command as the user of the workers, or as root.')
}

function notRunning(path: string): StartupError {
  return new StartupError(`No primary process of workers listens at ${path}.`, {
    code: 'MORTAR_CLI_PRIMARY',
    remedy:
      'Start it with `npx mortar start --workers`, and run this command in the same folder and with the same ' +
      'FRAMEWORK_STATE. One process without workers cannot reload: restart it.',
  })
}

function fault(path: string, found: string, remedy: string): StartupError {
  return new StartupError(`The control socket ${path} ${found}.`, { code: 'MORTAR_CLI_PRIMARY', remedy })
}
