import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { skipSuite } from '../../support/servers.ts'
import { get, startLoad } from './load.ts'
import { builtProject, isAlive, type ServingWorkers } from './serving.ts'

const route = (version: number): string => `import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from 'mortar'
export default async (ctx: Context) => {
  if (ctx.query['wait']) console.log('has arrived')
  await wait(Number(ctx.query['wait'] ?? 5))
  return { version: ${version}, pid: process.pid }
}
`

describe('mortar start --workers', function () {
  if (process.platform !== 'linux') skipSuite('The test reads /proc.')
  const built = builtProject({ 'routes/index.get.ts': route(1) })

  /** Changes the output as a build would, only faster. */
  function build(version: number, more = ''): void {
    built.project.write({
      'dist/routes/index.get.js': route(version)
        .replace(/import type .*/, '')
        .replace(': Context', ''),
      'dist/app.js': `import { createApp, env } from 'mortar'\nexport const app = createApp()\n${more}`,
    })
  }

  async function serveTwo(...args: readonly string[]): Promise<ServingWorkers> {
    const serving = await built.serve(['--workers', '2', '--stale', ...args])
    await serving.untilEvent('worker.ready', 2)
    return serving
  }

  /** Waits until workers have said that so many waiting requests have arrived. */
  async function arrived({ output }: ServingWorkers, requests: number): Promise<void> {
    while (output.text().split('has arrived').length <= requests) await wait(20)
  }

  const idOf = async (port: number): Promise<number> =>
    (JSON.parse(await get({ port, path: '/' })) as { pid: number }).pid

  it('reports the version of the build that each worker runs', async () => {
    const record = join(built.project.directory, 'dist/.framework/build.json')
    const before = JSON.parse(readFileSync(record, 'utf8')) as { version: string; sources: string }
    expect(before.version).to.equal(`1.0.0+${before.sources.slice(0, 8)}`)
    const running = await serveTwo()
    const versionOf = async (): Promise<unknown> =>
      JSON.parse(await get({ port: running.port, path: '/readyz' }))
    expect(await versionOf()).to.deep.equal({ status: 'ready', version: before.version })
    built.project.write({ 'dist/.framework/build.json': JSON.stringify({ ...before, version: '1.0.1+new' }) })
    running.child.kill('SIGHUP')
    await running.untilEvent('reload.completed', 1)
    expect(await versionOf()).to.deep.equal({ status: 'ready', version: '1.0.1+new' })
    built.project.write({ 'dist/.framework/build.json': JSON.stringify(before) })
  })

  it('replaces the workers on SIGHUP by the new build, and loses no request', async () => {
    const running = await serveTwo()
    const before = running.workers()
    build(2)
    const { port } = running
    const loads = [
      startLoad({ port, clients: 4, keepAlive: false }),
      startLoad({ port, clients: 4, keepAlive: true }),
      startLoad({ port, clients: 4, keepAlive: true, pause: 50 }),
    ]
    running.child.kill('SIGHUP')
    await running.untilEvent('reload.completed', 1)
    const results = await Promise.all(loads.map((load) => load.stop()))
    expect(results.flatMap(({ failed }) => failed)).to.deep.equal([])
    expect(Math.min(...results.map(({ sent }) => sent))).to.be.greaterThan(10)
    const seen = results.flatMap(({ bodies }) =>
      [...bodies].map((body) => JSON.parse(body).version as number),
    )
    expect([...new Set(seen)]).to.have.members([1, 2])
    expect(running.workers().filter((pid) => before.includes(pid))).to.deep.equal([])
    expect(await running.end('SIGTERM')).to.deep.equal([0, null])
  })

  it('keeps the old workers if the new build cannot start, and reports why', async () => {
    const running = await serveTwo()
    const before = running.workers()
    build(3, `env.string('MISSING_ONE')\n`)
    running.child.kill('SIGHUP')
    await running.untilEvent('reload.failed', 1)
    expect(running.output.text()).to.match(/MISSING_ONE is not set/)
    expect(running.workers()).to.have.members([...before])
    expect(before).to.include(await idOf(running.port))
    build(3)
    running.child.kill('SIGHUP')
    await running.untilEvent('reload.completed', 1)
    expect(before).not.to.include(await idOf(running.port))
  })

  it('finishes active requests when Ctrl+C reaches every process of the terminal', async () => {
    const running = await serveTwo()
    const { port } = running
    const active = Array.from({ length: 8 }, () => get({ port, path: '/?wait=800' }))
    await arrived(running, active.length)
    process.kill(-running.child.pid!, 'SIGINT')
    const results = await Promise.allSettled(active)
    expect(results.map(({ status }) => status)).to.deep.equal(active.map(() => 'fulfilled'))
    expect(await running.ended()).to.deep.equal([0, null])
  })

  it('ends immediately on a second Ctrl+C', async () => {
    const running = await serveTwo()
    const hanging = get({ port: running.port, path: '/?wait=60000' }).catch(() => 'lost')
    await arrived(running, 1)
    process.kill(-running.child.pid!, 'SIGINT')
    // Signals that are handled within a tenth of a second are one Ctrl+C.
    const ended = running.ended()
    while ((await Promise.race([ended, wait(300)])) === undefined) process.kill(-running.child.pid!, 'SIGINT')
    expect(await ended).to.deep.equal([130, null])
    expect(await hanging).to.equal('lost')
  })

  it('replaces workers that are killed; only their active requests fail', async () => {
    const running = await serveTwo()
    const { port } = running
    const clients = 4
    const load = startLoad({ port, clients, keepAlive: false })
    for (let killed = 1; killed <= 2; killed += 1) {
      process.kill(running.workers()[killed % 2]!, 'SIGKILL')
      await running.untilEvent('worker.ended', killed)
      await running.untilEvent('worker.ready', 2 + killed)
    }
    const { sent, failed } = await load.stop()
    expect(sent).to.be.greaterThan(50)
    // Refused connections or requests without a response would mean more than the requests of the killed workers.
    expect(failed.filter((code) => code !== 'ECONNRESET')).to.deep.equal([])
    expect(failed.length).to.be.at.most(2 * clients)
  })

  it('leaves no process when the primary process is killed, and finishes active requests', async () => {
    const running = await serveTwo()
    const active = get({ port: running.port, path: '/?wait=500' })
    await arrived(running, 1)
    const group = -running.child.pid!
    await running.end('SIGKILL')
    expect(JSON.parse(await active)).to.have.property('version')
    while (isAlive(group)) await wait(20)
  })

  it('reports a wrong set-up once, and exits with 1', async () => {
    const failing = await built.serve(['--workers', '4', '--stale'], { PORT: 'none' })
    expect(await failing.ended()).to.deep.equal([1, null])
    expect(failing.output.text().match(/PORT is not/g)?.length, failing.output.text()).to.equal(1)
  })

  it('rejects a number that is not one, with the exit code of wrong arguments', () => {
    const { code, err } = built.project.mortar(['start', '--workers', '0'])
    expect([code, err]).to.deep.equal([
      2,
      "mortar: --workers is '0', not a whole number from 1 to 256, or auto for one worker per core.\nSee: npx mortar help start\n",
    ])
    const ofVariable = built.project.mortar(['start'], { variables: { WORKERS: 'many' } })
    expect([ofVariable.code, ofVariable.err.includes('MORTAR_ENV')]).to.deep.equal([1, true])
  })
})
