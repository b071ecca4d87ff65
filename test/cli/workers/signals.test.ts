import { constants } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { skipSuite } from '../../support/servers.ts'
import { get } from './load.ts'
import { builtProject, type ServingWorkers } from './serving.ts'

const ROUTE = `import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from 'mortar'
export default async (ctx: Context) => {
  if (ctx.query['wait']) console.log('has arrived')
  await wait(Number(ctx.query['wait'] ?? 5))
  return { pid: process.pid }
}
`
const PASSWORD = 'pa55-of-the-database'

const SIGNALS = ['SIGHUP', 'SIGUSR2'] as const

describe('A signal to mortar start', function () {
  if (process.platform !== 'linux') skipSuite('The test reads /proc.')
  const built = builtProject({ 'routes/index.get.ts': ROUTE })

  async function untilPrinted({ output, child }: ServingWorkers, text: string): Promise<void> {
    while (!output.text().includes(text) && child.exitCode === null) await wait(20)
  }

  for (const signal of SIGNALS) {
    it(`closes a single process on ${signal}, whose exit code makes a supervisor start it again`, async () => {
      const serving = await built.serve(['--stale'])
      await untilPrinted(serving, 'listens at')
      const active = get({ port: serving.port, path: '/?wait=600' })
      await untilPrinted(serving, 'has arrived')
      const ended = serving.end(signal)
      // A closed terminal sends SIGHUP more than once.
      serving.child.kill(signal)
      expect(JSON.parse(await active)).to.have.property('pid')
      expect(await ended).to.deep.equal([128 + constants.signals[signal], null])
    })

    it(`reloads workers on ${signal}, which may reach every process, and loses no request`, async () => {
      const serving = await built.serve(['--workers', '2', '--stale'])
      await serving.untilEvent('worker.ready', 2)
      const before = serving.workers()
      const active = get({ port: serving.port, path: '/?wait=600' })
      await untilPrinted(serving, 'has arrived')
      process.kill(-serving.child.pid!, signal)
      expect(before).to.include((JSON.parse(await active) as { pid: number }).pid)
      await serving.untilEvent('reload.completed', 1)
      expect(serving.workers().filter((pid) => before.includes(pid))).to.deep.equal([])
      expect(serving.workers().length).to.equal(2)
    })
  }

  it('reports why a reload failed without the password of a connection string', async () => {
    const serving = await built.serve(['--workers', '2', '--stale'])
    await serving.untilEvent('worker.ready', 2)
    built.project.write({
      'dist/app.js': `export const app = undefined
throw new Error('no postgres://app:${PASSWORD}@db/x, password=${PASSWORD}, secret=${PASSWORD}')`,
    })
    serving.child.kill('SIGUSR2')
    await serving.untilEvent('reload.failed', 1)
    const shown = serving.output.text()
    expect(shown).to.include('no postgres://[redacted]@db/x').and.not.include(PASSWORD)
  })

  it('reports why no worker could start without the password of a connection string', async () => {
    for (const name of ['Error', 'StartupError']) {
      built.project.write({
        'dist/app.js': `export const app = undefined
const error = new Error('no postgres://app:${PASSWORD}@db/x')
error.name = '${name}'
throw error`,
      })
      const serving = await built.serve(['--workers', '2', '--stale'])
      await untilPrinted(serving, 'no postgres://')
      expect(serving.output.text(), name)
        .to.include('no postgres://[redacted]@db/x')
        .and.not.include(PASSWORD)
      await serving.cleanUp()
    }
  })
})
