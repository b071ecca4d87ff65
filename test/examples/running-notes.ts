import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../architecture/tree.ts'
import { outputOf } from '../docs/child-output.ts'
import { freePort } from '../support/free-port.ts'

/** The reference application in a process of its own, as `npm start` runs it. */
export interface RunningNotes {
  readonly url: string
  readonly port: number
  /** Its working directory, with its `.env` and its database. */
  readonly directory: string
  /** Returns its output so far. */
  output(): string
  /** Ends it as Ctrl+C does and removes its directory. @returns its exit code. */
  stop(): Promise<number | null>
}

/** The files that a working directory needs from the repository; all others are found from their real paths. */
const LINKED = ['package.json', 'node_modules', 'scripts']
const READY = /\d+ routes, ready in \d+ ms/

/** Starts it in a directory of its own, so that the repository's `.env` and `data` stay as they are. */
export async function startNotes(variables: Readonly<Record<string, string>> = {}): Promise<RunningNotes> {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-notes-'))
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(directory, name))
  const port = await freePort()
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const [, ...args] = scripts.start.split(' ')
  const env = { PATH: process.env['PATH'], HOME: directory, PORT: String(port), ...variables }
  const child = spawn(process.execPath, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = outputOf(child)
  const stop = async (): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGINT')
      await once(child, 'close')
    }
    rmSync(directory, { recursive: true, force: true })
    return child.exitCode
  }
  try {
    await output.until(READY)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `http://localhost:${port}`, port, directory, output: () => output.text(), stop }
}
