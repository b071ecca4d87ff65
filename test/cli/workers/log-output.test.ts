import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { freePort } from '../../support/free-port.ts'
import { skipSuite } from '../../support/servers.ts'
import { get } from './load.ts'
import { builtProject, isAlive, programOf } from './serving.ts'

/** More than 1 MB of log for each request. */
const ROUTE = `import type { Context } from 'mortar'
export default ({ log }: Context) => {
  for (let line = 0; line < 120; line++) log.warn({ note: 'word '.repeat(2_000) }, 'Long')
  return String(process.pid)
}
`

describe('mortar start --workers, whose log cannot be written', function () {
  if (process.platform !== 'linux') skipSuite('The test writes to /dev/full.')
  const built = builtProject({ 'routes/index.get.ts': ROUTE })
  let child: ChildProcess | undefined
  afterEach(() => {
    if (child && isAlive(-child.pid!)) process.kill(-child.pid!, 'SIGKILL')
  })

  async function serve(stdout: number | 'pipe') {
    const port = await freePort()
    child = spawn(process.execPath, [programOf(built.project), 'start', '--workers', '2'], {
      cwd: built.project.directory,
      detached: true,
      stdio: ['ignore', stdout, 'ignore'],
      env: { PATH: process.env['PATH'], PORT: String(port), DRAIN_DELAY: '0', NODE_ENV: 'production' },
    })
    return { primary: child, port, ended: once(child, 'exit') }
  }

  /** Sends requests until a worker responds that is not in the list. @returns its process id. */
  async function otherWorker(port: number, known: readonly number[]): Promise<number> {
    for (;;) {
      const agent = new Agent({ keepAlive: false })
      // Nothing listens yet, or the connection was of the worker that was killed.
      const pid = Number(await get({ port, path: '/', agent }).catch(() => 0))
      if (pid !== 0 && !known.includes(pid)) return pid
      await wait(20)
    }
  }

  for (const [name, open] of [
    ['a full disk', (): number => openSync('/dev/full', 'w')],
    ['a reader that has stopped', (): 'pipe' => 'pipe'],
  ] as const)
    it(`replaces a worker, serves on and ends in order: ${name}`, async () => {
      const stdout = open()
      const { primary, port, ended } = await serve(stdout)
      if (stdout !== 'pipe') closeSync(stdout)
      const first = await otherWorker(port, [])
      const second = await otherWorker(port, [first])
      process.kill(first, 'SIGKILL')
      await otherWorker(port, [first, second])
      expect(await otherWorker(port, [])).not.to.equal(first)
      primary.kill('SIGTERM')
      expect(await ended).to.deep.equal([0, null])
    })
})
