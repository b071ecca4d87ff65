import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { findServiceManager } from '../../src/cli/service-manager.ts'
import { skipSuite } from '../support/servers.ts'
import { createFakePrimary, settle } from './workers/fakes.ts'
import { builtProject } from './workers/serving.ts'

const every = (): void => {}
const SOCKET = { NOTIFY_SOCKET: '/run/notify' }

describe('findServiceManager()', () => {
  const warnings: string[] = []
  const warn = (problem: string): void => void warnings.push(problem)
  afterEach(() => warnings.splice(0))

  it('does nothing in a process that systemd did not start', async () => {
    const machine = { run: () => expect.fail('ran a program'), every: () => expect.fail('has a watchdog') }
    const manager = findServiceManager({ WATCHDOG_USEC: '1' }, warn, machine)
    manager.ready()
    manager.reloading()
    manager.stopping()
    await settle()
  })

  it('tells one state after the other, even if a program is slow', async () => {
    const ran: string[] = []
    const run = async (program: string, args: readonly string[]): Promise<undefined> => {
      await wait(ran.length === 0 ? 30 : 1)
      ran.push([program, ...args].join(' '))
    }
    const manager = findServiceManager(SOCKET, warn, { run, every })
    manager.reloading()
    manager.ready()
    while (ran.length < 2) await wait(5)
    expect(ran[0]).to.match(/^systemd-notify RELOADING=1 MONOTONIC_USEC=\d+$/)
    expect(ran[1]).to.equal('systemd-notify READY=1')
  })

  it('gives three signs of life for each limit, one after the other, and none for another process', async () => {
    const signs: string[] = []
    let endRun = (): void => {}
    const run = (_program: string, [state]: readonly string[]): Promise<undefined> => {
      signs.push(state!)
      return new Promise((resolve) => {
        endRun = () => resolve(undefined)
      })
    }
    let tick = (): void => {}
    findServiceManager({ ...SOCKET, WATCHDOG_USEC: '30000000' }, warn, {
      run,
      every(interval, call) {
        expect(interval).to.equal(10_000)
        tick = call
      },
    })
    tick()
    tick()
    await settle()
    expect(signs).to.deep.equal(['WATCHDOG=1'])
    endRun()
    await settle()
    tick()
    await settle()
    expect(signs.length).to.equal(2)
    const machine = { run, every: () => expect.fail('is meant for another process') }
    findServiceManager({ ...SOCKET, WATCHDOG_USEC: '1000', WATCHDOG_PID: '1' }, warn, machine)
  })

  it('tells that the process stops while another state and a sign of life are on their way', async () => {
    const told: string[] = []
    const run = (_program: string, [state]: readonly string[]): Promise<undefined> => {
      told.push(state!)
      return new Promise(() => {})
    }
    let tick = (): void => {}
    const manager = findServiceManager({ ...SOCKET, WATCHDOG_USEC: '30000000' }, warn, {
      run,
      every: (_interval, call) => (tick = call),
    })
    manager.ready()
    await settle()
    tick()
    manager.stopping()
    await settle()
    expect(told).to.deep.equal(['READY=1', 'WATCHDOG=1', 'STOPPING=1'])
  })

  it('warns if the machine can start no program, and gives the next sign of life', async () => {
    let tick = (): void => {}
    const signs: string[] = []
    const run = async (_program: string, [state]: readonly string[]): Promise<undefined> => {
      signs.push(state!)
      throw new Error('spawn ENOMEM')
    }
    const manager = findServiceManager({ ...SOCKET, WATCHDOG_USEC: '30000000' }, warn, {
      run,
      every: (_interval, call) => (tick = call),
    })
    manager.ready()
    for (let time = 0; time < 2; time++) {
      tick()
      await settle()
    }
    manager.stopping()
    await settle()
    expect(signs).to.have.members(['READY=1', 'WATCHDOG=1', 'WATCHDOG=1', 'STOPPING=1'])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('spawn ENOMEM')
  })

  it('warns once if the program is missing', async () => {
    const manager = findServiceManager(SOCKET, warn, {
      run: async () => 'spawn systemd-notify ENOENT',
      every,
    })
    manager.ready()
    manager.stopping()
    while (warnings.length === 0) await wait(1)
    await settle()
    expect(warnings).to.deep.equal([
      'systemd cannot be told the state of this process: spawn systemd-notify ENOENT',
    ])
  })
})

describe('The primary process and its service manager', () => {
  it('is ready when a worker serves, reloads, and stops', async () => {
    const { primary, forked, managed } = createFakePrimary(1)
    primary.start()
    await settle()
    expect(managed).to.deep.equal([])
    await forked[0]!.becomeReady()
    void primary.reload()
    await settle()
    expect(managed.splice(0)).to.deep.equal(['ready', 'reloading'])
    await forked[1]!.becomeReady()
    await forked[0]!.end()
    await settle()
    expect(managed.splice(0)).to.deep.equal(['ready'])
    void primary.reload()
    primary.stop('stop')
    await settle()
    expect(managed).to.deep.equal(['reloading', 'stopping'])
  })
})

describe('mortar start under systemd', function () {
  if (process.platform !== 'linux') skipSuite('The test runs a shell script.')
  const built = builtProject({ 'routes/index.get.ts': `export default () => 'ok'\n` })

  for (const [name, args] of [
    ['one process', []],
    ['several workers', ['--workers', '2']],
  ] as const)
    it(`reports its state and that it is alive: ${name}`, async () => {
      const directory = built.project.directory
      const notified = join(directory, 'notified')
      writeFileSync(join(directory, 'systemd-notify'), '#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> notified\n')
      chmodSync(join(directory, 'systemd-notify'), 0o755)
      rmSync(notified, { force: true })
      const serving = await built.serve(args, {
        PATH: `${directory}:${process.env['PATH']}`,
        NOTIFY_SOCKET: '/notify',
        WATCHDOG_USEC: '300000',
      })
      const isTold = (state: string): boolean =>
        existsSync(notified) && readFileSync(notified, 'utf8').includes(`/notify ${state}`)
      const until = async (state: string): Promise<void> => {
        while (!isTold(state)) {
          if (serving.child.exitCode !== null) throw new Error(serving.output.text())
          await wait(20)
        }
      }
      await until('READY=1')
      await until('WATCHDOG=1')
      if (args.length > 0) {
        serving.child.kill('SIGHUP')
        await until('RELOADING=1')
      }
      const [code] = await serving.end('SIGTERM')
      const deadline = performance.now() + 30_000
      while (!isTold('STOPPING=1') && performance.now() < deadline) await wait(20)
      expect([code, isTold('STOPPING=1')], serving.output.text()).to.deep.equal([0, true])
    })
})
