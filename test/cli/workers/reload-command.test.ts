import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { skipSuite } from '../../support/servers.ts'
import { builtProject, type ServingWorkers } from './serving.ts'

const PASSWORD = 'pa55-of-the-database'
const REMEDY = 'Start it with `npx mortar start --workers`'

describe('mortar reload', function () {
  if (process.platform !== 'linux') skipSuite('The test reads /proc.')
  const built = builtProject({ 'routes/index.get.ts': 'export default () => ({ pid: process.pid })\n' })
  const reload = (...args: string[]) => built.project.mortar(['reload', ...args])

  async function serve(): Promise<ServingWorkers> {
    const serving = await built.serve(['--workers', '2', '--stale'])
    await serving.untilEvent('worker.ready', 2)
    return serving
  }

  it('waits until the new workers are live', async () => {
    const serving = await serve()
    const before = serving.workers()
    expect(reload('--wait')).to.deep.include({ code: 0, out: 'The reload is complete: 2 workers are new.\n' })
    expect(serving.workers().filter((pid) => before.includes(pid))).to.deep.equal([])
    expect(reload('--wait', '--json')).to.deep.include({
      code: 0,
      out: '{"outcome":"completed","workers":2}\n',
    })
    expect(reload()).to.deep.include({ code: 0, out: 'The reload has begun.\n' })
  })

  it('says why they are not, without the password of a connection string, and how long it waited', async () => {
    const serving = await serve()
    const file = join(built.project.directory, 'dist/app.js')
    const app = readFileSync(file, 'utf8')
    built.project.write({ 'dist/app.js': `throw new Error('no postgres://app:${PASSWORD}@db/x')\n${app}` })
    const { code, out, err } = reload('--wait')
    expect([code, out]).to.deep.equal([1, ''])
    expect(err)
      .to.include('0 of 2 workers are new')
      .and.include('Reason: Error: no postgres://[redacted]@db/x')
    expect(err).to.not.include(PASSWORD)
    expect(JSON.parse(reload('--wait', '--json').out)).to.include({ outcome: 'failed', replaced: 0 })
    built.project.write({ 'dist/app.js': app })
    expect(reload('--wait', '--timeout', '20ms', '--json')).to.deep.include({
      code: 3,
      out: '{"outcome":"timeout"}\n',
    })
    await serving.untilEvent('reload.completed', 1)
  })

  it('finds no primary process before a start, after an end and after a kill', async () => {
    const serving = await serve()
    await serving.end('SIGKILL')
    expect(reload('--wait').err).to.include('No primary process').and.include(REMEDY)
    expect((await serve()).output.text()).to.not.include('control.failed')
    expect(reload('--wait').code).to.equal(0)
  })

  it('names the socket and the remedy if the state folder cannot be read', () => {
    const variables = { FRAMEWORK_STATE: join(built.project.directory, 'package.json') }
    const { code, err } = built.project.mortar(['reload'], { variables })
    expect(code).to.equal(1)
    expect(err)
      .to.include('control.sock cannot be opened (ENOTDIR)')
      .and.include('as the user of the workers')
  })

  it('refuses wrong arguments', () => {
    expect(reload('now')).to.deep.include({ code: 2 })
    for (const time of ['0s', 'soon', '25h', ''])
      expect(reload('--wait', `--timeout=${time}`).err, time).to.include('such as 90s or 5m')
  })
})
