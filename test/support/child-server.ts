import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundleScript } from './bundle-script.ts'

/** A server in a process of its own. Its first line of output is its address. */
export interface ChildServer {
  readonly child: ChildProcess
  readonly url: string
  /** Both outputs so far. */
  output(): string
  errors(): string
  /** Resolves with the exit code, or with the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** Starts a fixture of `test/fixtures`, and waits until it has printed its address. */
export async function startChildServer(
  fixture: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<ChildServer> {
  const script = await bundleScript(join(import.meta.dirname, '../fixtures', fixture))
  const child = spawn(process.execPath, ['--enable-source-maps', script], {
    env: { ...process.env, ...variables },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  while (!output.includes('\n')) {
    const how = await Promise.race([once(child.stdout, 'data'), ended])
    if (!Array.isArray(how)) throw new Error(`The server ended with ${how}: ${errors}`)
  }
  const url = output.slice(0, output.indexOf('\n'))
  return { child, url, output: () => output, errors: () => errors, ended }
}
