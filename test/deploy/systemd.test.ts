import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'
import { DEPLOY, needsProgram, readDeployFile } from './files.ts'

/** From 0 (best) to 10. An ordinary service without any hardening has 9.6. */
const MOST_EXPOSURE = 2

describe('deploy/notes.service', () => {
  const unit = readDeployFile('notes.service')
  const valueOf = (key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1]

  it('gives the application the time to drain and to close', () => {
    const drainDelay = 5
    const shutdownTimeout = 10
    const restOfWorkers = 5
    expect(Number(valueOf('TimeoutStopSec'))).to.be.greaterThan(
      drainDelay + 2 * shutdownTimeout + restOfWorkers,
    )
  })

  it('has the memory and the threads that its workers need, one more in a reload included', () => {
    const [, workers, threads] = /^Environment=WORKERS=(\d+) UV_THREADPOOL_SIZE=(\d+)$/m
      .exec(unit)!
      .map(Number)
    const most = Number(/--max-memory (\d+)mb$/.exec(valueOf('ExecStart')!)?.[1])
    expect(threads).to.equal(workers! + 2)
    expect(valueOf('MemoryMax')).to.equal(`${(workers! + 1) * most + 128}M`)
    expect(Number(valueOf('TasksMax'))).to.be.within(
      (workers! + 2) * (7 + threads!),
      (workers! + 2) * (7 + threads!) * 2,
    )
  })

  it('sends SIGTERM to the main process only, and SIGHUP for a reload', () => {
    expect(valueOf('KillMode')).to.equal('mixed')
    expect(valueOf('ExecReload')).to.equal('/bin/kill -HUP $MAINPID')
  })

  it('restarts a service without a sign of life, which its processes may send', () => {
    expect([valueOf('Type'), valueOf('NotifyAccess'), valueOf('Restart')]).to.deep.equal([
      'notify',
      'all',
      'on-failure',
    ])
    expect(Number(valueOf('WatchdogSec'))).to.be.within(10, 60)
  })

  it('names only variables that the application reads', () => {
    const names = [...readDeployFile('notes.env').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name!)
    expect(names).to.include.members(['AUTH_SECRET', 'DATABASE_URL', 'APP_URL', 'MAIL_TRANSPORT'])
    const documented = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')
    expect(names.filter((name) => !documented.includes(`\`${name}\``))).to.deep.equal([])
  })
})

describe('deploy/notes.service, read by systemd', () => {
  needsProgram('systemd-analyze')
  const analyze = (...args: string[]): string => {
    const { stdout, stderr, status } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    return `${status}\n${stdout}${stderr}`
  }

  it('is a correct unit, and so is its socket', () => {
    const units = ['notes.service', 'notes.socket'].map((name) => join(DEPLOY, name))
    const lines = analyze('verify', ...units)
      .split('\n')
      .slice(1)
    // A missing program is a fault of this machine, not of the unit.
    expect(
      lines.filter((line) => line.includes('notes.') && !line.includes('is not executable')),
    ).to.deep.equal([])
  })

  it(`has an exposure of at most ${MOST_EXPOSURE} out of 10`, () => {
    const report = analyze('security', '--offline=yes', '--no-pager', join(DEPLOY, 'notes.service'))
    const [, exposure] = /exposure level for notes\.service: ([\d.]+)/.exec(report) ?? []
    expect(Number(exposure), report).to.be.at.most(MOST_EXPOSURE)
  })
})
