import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { get as getByTls } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { ROOT } from '../../architecture/tree.ts'
import { skipSuite } from '../../support/servers.ts'
import { builtProject, programOf, type ServingWorkers } from './serving.ts'

const SERVER = `import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { env, loadRoutes } from 'mortar'
import { app } from './app.ts'

const read = (name: string) => readFileSync(join('${ROOT}/test/fixtures/tls', name))
const addresses = {
  'a Unix socket': () => ({ path: join(process.cwd(), 'app.sock') }),
  TLS: () => ({ port: env.port('PORT'), host: '127.0.0.1', tls: { key: read('key.pem'), cert: read('cert.pem') } }),
  'port 0': () => ({ port: 0, host: '127.0.0.1' }),
}
await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(addresses[env.oneOf('ADDRESS', ['a Unix socket', 'TLS', 'port 0'])]())
console.log(\`listens at \${url}\`)
`

describe('mortar start --workers, at', function () {
  if (process.platform !== 'linux') skipSuite('The test reads /proc.')
  const route = 'export default () => String(process.pid)\n'
  const built = builtProject({ 'server.ts': SERVER, 'routes/index.get.ts': route })
  let serving: ServingWorkers

  /** The one URL of all workers until now. */
  function urlOfAll(): string {
    const urls = serving.output.text().matchAll(/listens at (\S+)/g)
    const [url, ...others] = new Set([...urls].map(([, found]) => found!))
    expect(others).to.deep.equal([])
    return url!
  }

  /** Sends requests with connections of their own. @returns the processes that respond. */
  async function servingProcesses(requests: number): Promise<number[]> {
    const pids = new Set<number>()
    for (let request = 0; request < requests; request++) pids.add(await ask(urlOfAll()))
    return [...pids]
  }

  for (const address of ['a Unix socket', 'TLS', 'port 0'])
    it(`${address}: share it, also after a reload and a crash`, async () => {
      const running = await built.serve(['--workers', '2'], { ADDRESS: address })
      serving = running
      await running.untilEvent('worker.ready', 2)
      expect(await servingProcesses(10)).to.have.members([...running.workers()])

      running.child.kill('SIGHUP')
      while (!running.output.text().includes('reload.completed')) await servingProcesses(1)
      expect(await servingProcesses(10)).to.have.members([...running.workers()])

      process.kill(running.workers()[0]!, 'SIGKILL')
      await running.untilEvent('worker.ready', 5)
      expect(await servingProcesses(10)).to.have.members([...running.workers()])

      expect(await running.end('SIGTERM')).to.deep.equal([0, null])
      expect(existsSync(join(built.project.directory, 'app.sock'))).to.equal(false)
    })

  it('a socket of systemd: refuse to start, because the primary process has the socket', () => {
    const args = [process.execPath, programOf(built.project), 'start', '--workers', '2']
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', ...args],
      {
        cwd: built.project.directory,
        encoding: 'utf8',
      },
    )
    expect(stderr).to.match(/systemd has passed a socket.*\n.*without --workers.*\[MORTAR_LISTEN\]/)
    expect(status).to.equal(1)
  })
})

async function ask(url: string): Promise<number> {
  const socketPath = /^http\+unix:(.*)$/.exec(url)?.[1]
  const sent =
    socketPath !== undefined
      ? get({ socketPath, agent: false })
      : url.startsWith('https:')
        ? getByTls(url, { agent: false, rejectUnauthorized: false })
        : get(url, { agent: false })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return Number(await text(response))
}
