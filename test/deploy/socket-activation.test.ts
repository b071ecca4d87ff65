import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect } from 'chai'
import { takeActivationSocket } from '../../src/support/env/activation-socket.ts'
import { ROOT } from '../architecture/tree.ts'
import { outputOf } from '../docs/child-output.ts'
import { freePort } from '../support/free-port.ts'
import { needsProgram } from './files.ts'
import { bundleScript } from '../support/bundle-script.ts'

describe('takeActivationSocket()', () => {
  it('returns the first socket of this process once', () => {
    const variables = { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'notes.socket', PORT: '3000' }
    expect(takeActivationSocket(variables, 7)).to.equal(3)
    expect(variables).to.deep.equal({ PORT: '3000' })
    expect(takeActivationSocket(variables, 7)).to.equal(undefined)
  })

  it('leaves the socket of another process alone', () => {
    expect(takeActivationSocket({ LISTEN_PID: '8', LISTEN_FDS: '1' }, 7)).to.equal(undefined)
    expect(takeActivationSocket({ LISTEN_PID: '7', LISTEN_FDS: '0' }, 7)).to.equal(undefined)
    expect(takeActivationSocket({}, 7)).to.equal(undefined)
  })
})

describe('an application under a systemd socket', function () {
  needsProgram('systemd-socket-activate')
  /** Starts the application again when it has ended, as a unit with `Restart=` does; the socket stays open. */
  const again = `trap exit TERM; while true; do sh -c 'LISTEN_PID=$$ exec "$0" "$@"' "$@"; done`
  let supervisor: ChildProcess
  let port: number

  beforeEach(async () => {
    port = await freePort()
    const application = [
      process.execPath,
      await bundleScript(join(ROOT, 'test/fixtures/signals/activated.ts')),
    ]
    const env = { PATH: process.env['PATH'], NODE_ENV: 'production' }
    const args = ['--listen', `127.0.0.1:${port}`, ...Object.keys(env).flatMap((name) => ['-E', name])]
    supervisor = spawn('systemd-socket-activate', [...args, 'sh', '-c', again, 'sh', ...application], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    await outputOf(supervisor).until(/Listening on/)
  })

  afterEach(async () => {
    const pid = await servedBy()
    supervisor.kill('SIGTERM')
    process.kill(pid, 'SIGTERM')
    if (supervisor.exitCode === null && supervisor.signalCode === null) await once(supervisor, 'exit')
  })

  /** Opens a connection of its own. @returns the process that responds. */
  async function servedBy(): Promise<number> {
    const req = get({ port, host: '127.0.0.1', agent: false })
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    return ((await json(res)) as { pid: number }).pid
  }

  it('serves on the socket instead of the port that its code names', async () => {
    expect(await servedBy()).to.be.a('number')
  })

  it('refuses no connection while it restarts', async () => {
    const old = await servedBy()
    process.kill(old, 'SIGTERM')
    const pids = new Set<number>([old])
    let requests = 0
    while (pids.size < 2) {
      try {
        pids.add(await servedBy())
        requests++
      } catch (error) {
        // The old process may close a connection whose request comes too late on a loaded machine. It refuses none.
        expect((error as NodeJS.ErrnoException).code).to.equal('ECONNRESET')
      }
    }
    expect(requests).to.be.greaterThan(0)
  })
})
