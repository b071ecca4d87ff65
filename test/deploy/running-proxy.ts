import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { outputOf } from '../docs/child-output.ts'
import { freePort } from '../support/free-port.ts'

/** A proxy server in front of the applications of a test. */
export interface RunningProxy {
  readonly url: string
  stop(): Promise<void>
}

/** Writes the configuration into a directory. @returns the command line that runs it in the foreground. */
export type Configure = (place: { directory: string; port: number }) => readonly string[]

/** Starts a proxy server on a free port, with a directory of its own, and waits until it accepts connections. */
export async function startProxyServer(configure: Configure): Promise<RunningProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-proxy-'))
  chmodSync(directory, 0o755)
  const port = await freePort()
  const [program, ...args] = configure({ directory, port })
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = outputOf(child)
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await untilListening(port, child)
  } catch (error) {
    await stop()
    throw new Error(`${program} did not start:\n${output.text()}`, { cause: error })
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}.`)
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      await wait(25)
    } finally {
      socket.destroy()
    }
  }
  throw new Error('It does not listen.')
}
