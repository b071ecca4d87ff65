import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { skipSuite } from '../../support/servers.ts'
import { get } from './load.ts'
import { builtProject, isAlive, type ServingWorkers } from './serving.ts'

const TOKEN = 'a-token-of-the-tests'

const APP = `import { createApp } from 'mortar'
import { metrics } from '@mortar/metrics'
export const app = createApp({ logger: false }).use(metrics({ token: '${TOKEN}' }))
`

const ROUTE = `import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from 'mortar'
const kept: Buffer[] = []
export default async ({ query }: Context) => {
  if (query['memory']) kept.push(Buffer.alloc(Number(query['memory']), 1))
  if (query['wait']) await wait(Number(query['wait']))
  if (query['stuck']) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  return String(process.pid)
}
`

describe('mortar start --workers, one of which is stuck', function () {
  if (process.platform !== 'linux') skipSuite('The test reads /proc.')
  const built = builtProject({ 'app.ts': APP, 'routes/index.get.ts': ROUTE })

  async function serveTwo(...args: readonly string[]): Promise<ServingWorkers> {
    const serving = await built.serve(['--workers', '2', ...args])
    await serving.untilEvent('worker.ready', 2)
    return serving
  }

  /** Each request has a connection of its own. */
  const ask = ({ port }: ServingWorkers, path: string): Promise<string> => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    return get({ port, path, headers, agent: new Agent({ keepAlive: false }) })
  }

  const shown = (metrics: string, start: string): readonly string[] =>
    metrics.split('\n').filter((line) => line.startsWith(start))

  it('replaces it, loses no request of the others, and names it in metrics until then', async () => {
    const serving = await serveTwo('--stuck-after', '3s')
    const before = serving.workers()
    // Both have been measured, so that the stuck one has a latest report.
    await ask(serving, '/metrics')
    await ask(serving, '/metrics')
    const inFlight = ask(serving, '/?wait=2000')
    await wait(100)
    const stuck = ask(serving, '/?stuck=1').catch(() => 'ended')
    await wait(100)
    // Connections go to the workers in turn, so one of two reaches the other worker.
    const metrics = await Promise.any([ask(serving, '/metrics'), ask(serving, '/metrics')])
    expect(shown(metrics, 'mortar_worker')).to.include.members([
      'mortar_workers 2',
      'mortar_workers_responding 1',
      'mortar_worker_restarts_total{reason="stuck"} 0',
    ])
    const up = shown(metrics, 'mortar_worker_up').map((line) => line.at(-1))
    expect(up).to.have.members(['0', '1'])
    await serving.untilEvent('worker.stuck', 1)
    expect(before).to.include(Number(await inFlight))
    await serving.untilEvent('worker.ready', 3)
    expect(await stuck).to.equal('ended')
    expect(serving.workers().filter((pid) => before.includes(pid)).length).to.equal(1)
    let later = ''
    while (!later.includes('mortar_workers_responding 2')) {
      await wait(200)
      later = await ask(serving, '/metrics')
    }
    expect(shown(later, 'mortar_worker_restarts_total')).to.include(
      'mortar_worker_restarts_total{reason="stuck"} 1',
    )
    expect(shown(later, '# TYPE mortar_worker_restarts_total')).to.deep.equal([
      '# TYPE mortar_worker_restarts_total counter',
    ])
  })

  it('replaces one that is stopped', async () => {
    const serving = await serveTwo('--stuck-after', '2s')
    const [first] = serving.workers()
    process.kill(first!, 'SIGSTOP')
    await serving.untilEvent('worker.stuck', 1)
    while (isAlive(first!)) await wait(20)
    await serving.untilEvent('worker.ready', 3)
    expect(await serving.end('SIGTERM')).to.deep.equal([0, null])
  })

  it('outlives a suspension of its own: no worker is killed', async () => {
    const serving = await serveTwo('--stuck-after', '2s')
    const before = serving.workers()
    // The primary has asked each worker once by then.
    await wait(1500)
    process.kill(serving.child.pid!, 'SIGSTOP')
    await wait(3000)
    process.kill(serving.child.pid!, 'SIGCONT')
    await wait(2500)
    expect(serving.workers()).to.deep.equal(before)
  })
})
