import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { skipSuite } from '../../support/servers.ts'
import { builtFramework } from '../../support/built-framework.ts'
import { builtProject } from './serving.ts'

const MAIN = (): string => join(builtFramework(), 'mortar/dist/cli/main.js')

describe('mortar maintenance', function () {
  if (process.platform !== 'linux') skipSuite('The test reads /proc.')
  const built = builtProject({ 'routes/index.get.ts': 'export default () => ({ pid: process.pid })\n' })
  const FOLDER = "state of 'notes'"
  const FRAMEWORK_STATE = FOLDER
  const maintain = (...args: string[]) =>
    built.project.mortar(['maintenance', ...args], { variables: { FRAMEWORK_STATE } })

  /** Statuses of a number of requests, each on a connection of its own, so that every worker gets some. */
  async function statuses(port: number): Promise<readonly number[]> {
    const url = `http://127.0.0.1:${port}/`
    const ask = async (): Promise<number> => (await fetch(url, { headers: { Connection: 'close' } })).status
    return [...new Set(await Promise.all([ask(), ask(), ask(), ask(), ask(), ask()]))]
  }
  async function untilAll(port: number, status: number): Promise<void> {
    const end = performance.now() + 5000
    while ((await statuses(port)).join() !== String(status) && performance.now() < end) await wait(50)
    expect(await statuses(port)).to.deep.equal([status])
  }

  it('reaches every worker, survives a restart, and ends', async () => {
    const start = ['--workers', '2', '--stale']
    const serving = await built.serve(start, { FRAMEWORK_STATE })
    await serving.untilEvent('worker.ready', 2)
    expect(await statuses(serving.port)).to.deep.equal([200])
    const on = maintain('on', '--retry-after', '5m', '--json')
    expect(on.code, on.err).to.equal(0)
    expect(JSON.parse(on.out)).to.include({ maintenance: 'on', retryAfter: 300 })
    await untilAll(serving.port, 503)
    expect(built.project.mortar(['reload', '--wait'], { variables: { FRAMEWORK_STATE } }).code).to.equal(0)
    expect(await statuses(serving.port)).to.deep.equal([503])
    await serving.end('SIGKILL')
    const again = await built.serve(start, { FRAMEWORK_STATE })
    await again.untilEvent('worker.ready', 2)
    expect(await statuses(again.port)).to.deep.equal([503])
    expect(maintain('off').out).to.equal('The maintenance mode is off.\n')
    await untilAll(again.port, 200)
  })

  it('ignores white space around the name of its folder, and a name that is blank', () => {
    const { project } = built
    const fileIn = (folder: string): string => {
      const ran = project.mortar(['maintenance', '--json'], { variables: { FRAMEWORK_STATE: folder } })
      return (JSON.parse(ran.out) as { file: string }).file
    }
    expect([` ${FOLDER}\n`, ' '].map(fileIn)).to.deep.equal(
      [FOLDER, '.framework'].map((folder) => join(project.directory, folder, 'maintenance.json')),
    )
  })

  it('shows its state with an exit code, and may be switched twice', () => {
    expect(maintain().code).to.equal(0)
    expect(maintain('off').code).to.equal(0)
    expect(maintain('on', '--allow', '10.0.0.0/8', '--allow', '::1').code).to.equal(0)
    expect(maintain('on', '--allow', '10.1.0.0/16').code).to.equal(0)
    const { code, out } = maintain('status', '--json')
    expect(code).to.equal(3)
    expect(JSON.parse(out)).to.deep.include({ allow: ['10.1.0.0/16'], retryAfter: 600 })
    const files = readdirSync(join(built.project.directory, FOLDER))
    expect(files.filter((name) => name !== 'control.sock')).to.deep.equal(['maintenance.json'])
    maintain('off')
  })

  it('refuses wrong arguments, and a folder in which it cannot write', () => {
    const folder = join(built.project.directory, FOLDER)
    rmSync(folder, { recursive: true, force: true })
    expect(maintain('on', '--allow', 'everybody').err).to.include("--allow is 'everybody'")
    expect(maintain('on', '--retry-after', '0s').err).to.include("--retry-after is '0s'")
    expect(maintain('now')).to.include({ code: 2 })
    expect(existsSync(folder)).to.equal(false)
    writeFileSync(folder, '')
    expect(maintain('on').err).to.match(/maintenance\.json cannot be read or changed \((EEXIST|ENOTDIR)\)/)
    rmSync(folder)
    mkdirSync(join(folder, 'maintenance.json'), { recursive: true })
    expect(maintain('on')).to.include({ code: 1, out: '' })
    expect(readdirSync(folder)).to.deep.equal(['maintenance.json'])
  })

  it('asks for space if the disk is full, and changes nothing', function () {
    if (spawnSync('unshare', ['--mount', 'true']).status !== 0) this.skip()
    const folder = join(built.project.directory, 'full')
    mkdirSync(folder)
    const fill = `mount -t tmpfs -o size=8k tmpfs '${folder}' && head -c 8192 /dev/zero > '${folder}/fill'`
    const script = `${fill}; FRAMEWORK_STATE='${folder}' exec '${process.execPath}' '${MAIN()}' maintenance on`
    const settings = { cwd: built.project.directory, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script], settings)
    expect([status, stderr]).to.deep.equal([1, stderr])
    expect(stderr).to.match(/\(ENOSPC\)[^]+Free space on the disk/)
  })
})
