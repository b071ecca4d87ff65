import { spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Logger } from '../../../src/contracts/logger.ts'
import { askToReload } from '../../../src/cli/workers/ask-primary.ts'
import { openControl } from '../../../src/cli/workers/control.ts'
import type { ReloadOutcome } from '../../../src/cli/workers/reload.ts'
import { skipSuite } from '../../support/servers.ts'
import { startupErrorOf } from '../../support/startup-error-of.ts'

const DONE: ReloadOutcome = { outcome: 'completed', workers: 2 }

describe('The control socket of workers', function () {
  if (process.platform === 'win32') skipSuite('Windows has no signals to reload with.')
  let folder: string
  let path: string
  let lines: string[]
  let closes: (() => unknown)[]
  const write = (...given: readonly unknown[]): void => void lines.push(JSON.stringify(given))
  const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-control \'x" '))
    path = join(folder, 'control.sock')
    lines = []
    closes = []
  })
  afterEach(() => {
    mock.timers.reset()
    for (const close of closes) close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(reload: () => Promise<ReloadOutcome> = async () => DONE): Promise<() => void> {
    const close = await openControl(folder, { reload, log })
    closes.push(close)
    return close
  }
  const listen = (server: Server): Promise<void> =>
    new Promise((resolve) => {
      closes.push(() => server.close())
      server.listen(path, resolve)
    })
  const ask = (wait: { limit: number | undefined } = { limit: 5 }) => askToReload(folder, wait)
  const faultOf = () => startupErrorOf(() => ask())

  it('is open to its own user only', async () => {
    await open()
    expect(statSync(path).mode & 0o777).to.equal(0o600)
    writeFileSync(join(folder, 'other'), '')
    expect(statSync(join(folder, 'other')).mode & 0o777).to.not.equal(0o600)
    closes.push(await openControl(join(folder, 'new'), { reload: async () => DONE, log }))
    expect(statSync(join(folder, 'new')).mode & 0o777).to.equal(0o700)
  })

  it('stays open after an error of one connection', async () => {
    const listening = mock.method(Server.prototype, 'listen')
    await open()
    const server = listening.mock.calls[0]!.this as Server
    listening.mock.restore()
    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
    expect(await ask()).to.deep.equal(DONE)
  })

  it('tells every operator the outcome of the reload that was asked for', async () => {
    const asked: ((outcome: ReloadOutcome) => void)[] = []
    await open(
      () =>
        new Promise((resolve) => {
          asked.push(resolve)
          if (asked.length < 2) return
          asked[0]!({ outcome: 'failed', workers: 2, replaced: 0, message: 'no', reason: 'why' })
          asked[1]!(DONE)
        }),
    )
    const outcomes = await Promise.all([ask(), ask()])
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).to.deep.equal(['completed', 'failed'])
  })

  it('accepts without a wait, and says after the limit that the reload continues', async () => {
    await open(() => new Promise(() => {}))
    expect(await ask({ limit: undefined })).to.deep.equal({ outcome: 'accepted' })
    expect(await ask({ limit: 0.05 })).to.deep.equal({ outcome: 'timeout' })
  })

  it('refuses bytes that are not a command', async () => {
    await open(() => Promise.reject(new Error('was called')))
    for (const bytes of ['', 'mortar:reloa', 'x'.repeat(100_000)]) {
      const socket = connect(path)
      let received = ''
      socket.on('error', () => {}).on('data', (part) => (received += String(part)))
      socket.end(bytes)
      await new Promise<void>((resolve) => {
        socket.once('close', () => resolve())
      })
      expect(received).to.equal('')
    }
    const begin = performance.now()
    const endless = connect(path).on('error', () => {})
    endless.write('x'.repeat(100_000))
    await new Promise<void>((resolve) => {
      endless.once('close', () => resolve())
    })
    expect(performance.now() - begin).to.be.below(4000)
  })

  it('closes clients beyond the sixteenth, since each has a descriptor', async () => {
    await open()
    const clients = Array.from({ length: 20 }, () => connect(path).resume())
    closes.push(() => clients.map((client) => client.destroy()))
    for (const client of clients) client.on('error', () => undefined)
    const closed = () => clients.filter(({ readableEnded, destroyed }) => readableEnded || destroyed).length
    for (let waits = 0; closed() < 4 && waits < 3000; waits++) await pause(10)
    expect(closed()).to.equal(4)
  })

  it('closes a client without a command, and is not waited for without a reply, after five seconds', async () => {
    const close = await open()
    mock.timers.enable({ apis: ['setTimeout'] })
    const accepted = new Promise<void>((resolve) => {
      subscribe('net.server.socket', function note() {
        unsubscribe('net.server.socket', note)
        resolve()
      })
    })
    const client = connect(path).resume()
    closes.push(() => client.destroy())
    await accepted
    mock.timers.tick(4999)
    await pause(20)
    expect(client.readableEnded).to.equal(false)
    mock.timers.tick(1)
    for (let waits = 0; !client.readableEnded && waits < 3000; waits++) await pause(10)
    expect(client.readableEnded).to.equal(true)
    close()
    await listen(createServer({ allowHalfOpen: true }, (socket) => socket.resume()))
    const fault = faultOf()
    mock.timers.tick(4999)
    expect(await Promise.race([fault, pause(20, 'waits')])).to.equal('waits')
    mock.timers.tick(1)
    const late = Promise.race([fault, pause(60_000, { message: 'waits' }, { ref: false })])
    expect((await late).message).to.include('does not respond')
  })

  it('is absent where no primary process runs, and after one has closed', async () => {
    expect((await faultOf()).message).to.include('No primary process of workers listens at')
    const close = await open()
    close()
    expect(existsSync(path)).to.equal(false)
    expect((await faultOf()).remedy).to.include('mortar start --workers')
  })

  it('of a killed process reaches nobody, and the next process replaces it', async () => {
    const leave = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`
    spawnSync(process.execPath, ['-e', leave])
    expect(existsSync(path)).to.equal(true)
    expect((await faultOf()).message).to.include('No primary process')
    await open()
    expect([await ask(), lines]).to.deep.equal([DONE, []])
  })

  it('stays with the process that has it', async () => {
    await open()
    await open(() => Promise.reject(new Error('was called')))
    expect(lines.join()).to.include('Another process listens')
    expect(await ask()).to.deep.equal(DONE)
  })

  it('is not made in a folder that cannot be one, and the log has the reason', async () => {
    writeFileSync(join(folder, 'file'), '')
    await openControl(join(folder, 'file'), { reload: async () => DONE, log })
    await openControl(join(folder, 'long'.repeat(30)), { reload: async () => DONE, log })
    expect(lines[0])
      .to.include('control.failed')
      .and.match(/EEXIST|ENOTDIR/)
    expect(lines[1]).to.include('is longer than 103 bytes')
  })

  it('is refused if it is a file, belongs to another program, or that program ends', async () => {
    writeFileSync(path, '')
    expect((await faultOf()).message).to.include('is not a socket')
    rmSync(path)
    await listen(createServer((socket) => socket.end('SSH-2.0\n')))
    expect((await faultOf()).message).to.include('belongs to another program')
    closes.pop()!()
    await listen(
      createServer((socket) => {
        socket.on('data', () => socket.write('{"outcome":"accepted"}\n', () => socket.destroy()))
      }),
    )
    expect((await faultOf()).message).to.include('ended during the reload')
    closes.pop()!()
    await listen(createServer((socket) => socket.destroy()))
    expect((await faultOf()).message).to.match(/does not respond|cannot be opened/)
  })

  it('is refused to root in a folder to which every user can write', async function () {
    if (process.getuid?.() !== 0) return this.skip()
    await open()
    chownSync(path, 65534, 65534)
    chmodSync(folder, 0o777)
    expect((await faultOf()).message).to.include('every user can write')
    chmodSync(folder, 0o755)
    expect(await ask()).to.deep.equal(DONE)
  })

  it('is refused to a user to whom it does not belong', async function () {
    if (process.getuid?.() !== 0) return this.skip()
    await open()
    chmodSync(folder, 0o755)
    process.seteuid!(65534)
    try {
      const uid = process.getuid
      process.getuid = () => 65534
      const fault = await faultOf().finally(() => (process.getuid = uid))
      expect(fault.message).to.include('belongs to the user 0')
    } finally {
      process.seteuid!(0)
    }
  })
})
