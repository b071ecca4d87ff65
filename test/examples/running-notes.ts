import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { ROOT } from '../architecture/tree.ts'
import { outputOf } from '../docs/child-output.ts'
import { builtFramework } from '../support/built-framework.ts'
import { freePort } from '../support/free-port.ts'

/** The reference application in a process of its own. */
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

type Variables = Readonly<Record<string, string>>

/** The files that a working directory needs from the repository; all others are found from their real paths. */
const LINKED = ['package.json', 'node_modules', 'scripts']
const READY = /\d+ routes, ready in \d+ ms/

/** Packages that the application imports by name. */
const FRAMEWORK = ['mortar', '@mortar']
const OTHERS = ['better-auth', 'mongodb', 'typeorm', 'yup']

/**
 * Starts it as `npm start` does, with the sources of the framework, in a directory of its own, so that the repository's
 * `.env` and `data` stay as they are.
 */
export function startNotes(variables: Variables = {}): Promise<RunningNotes> {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-notes-'))
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(directory, name))
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const [, ...args] = scripts.start.split(' ')
  return start(directory, args, variables)
}

/** Starts a copy of it as JavaScript with the built framework, which takes a third of the time. */
export function startCopiedNotes(variables: Variables = {}): Promise<RunningNotes> {
  const secret = { AUTH_SECRET: 'the secret of a copy, longer than 32 bytes' }
  return start(copyCompiledNotes(), ['server.js'], { ...secret, ...variables })
}

/** Copies the application as JavaScript. @returns the directory. */
export function copyCompiledNotes(): string {
  const directory = copyNotes()
  for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    if (/^(?!node_modules).*\.ts$/.test(file)) compile(join(directory, file))
  return directory
}

function compile(file: string): void {
  const { code } = transformSync(readFileSync(file, 'utf8'), { loader: 'ts', target: 'node20' })
  writeFileSync(file.replace(/ts$/, 'js'), code.replaceAll(/("\.[^"]*)\.ts"/g, '$1.js"'))
  rmSync(file)
}

/** Copies the application, with links in place of an installation. @returns the directory. */
export function copyNotes(): string {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-copied-'))
  cpSync(join(ROOT, 'examples/notes'), directory, {
    recursive: true,
    filter: (path) => !/[\\/](data|dist|\.framework)$/.test(path),
  })
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'notes', type: 'module' }))
  mkdirSync(join(directory, 'node_modules'))
  const link = (from: string, name: string) =>
    symlinkSync(join(from, name), join(directory, 'node_modules', name))
  for (const name of FRAMEWORK) link(builtFramework(), name)
  for (const name of OTHERS) link(join(ROOT, 'node_modules'), name)
  return directory
}

async function start(
  directory: string,
  args: readonly string[],
  variables: Variables,
): Promise<RunningNotes> {
  const port = await freePort()
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
