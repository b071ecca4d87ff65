import { execFile } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { closeUnacknowledged } from '../../src/compat/cluster.ts'

const run = promisify(execFile)

/** Runs a primary process whose workers are killed before they accept a connection. */
async function killBusyWorkers(): Promise<unknown> {
  const file = join(import.meta.dirname, 'cluster-primary.ts')
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--conditions=source', file])
  return JSON.parse(stdout)
}

/** A worker without a process. */
class FakeWorker extends EventEmitter {
  readonly process = Object.assign(new EventEmitter(), { send: () => true })
  readonly found: string[] = []

  constructor() {
    super()
    closeUnacknowledged(this, (found) => this.found.push(found))
  }

  /** Sends as Node's primary process does. */
  send(message: object, handle?: object): void {
    ;(this.process.send as (...given: unknown[]) => boolean)(message, handle)
  }

  /** Does what Node does when a worker listens. */
  async listen(cmd = 'NODE_CLUSTER', reply: object = { cmd, ack: 1 }): Promise<void> {
    this.send(reply)
    this.emit('listening')
    this.process.emit('internalMessage', { cmd, act: 'listening', seq: 2 })
    await turn()
  }
}

/** The copy of a connection in the primary process. */
function connection(): { closed: number; close(): void } {
  return {
    closed: 0,
    close() {
      this.closed += 1
    },
  }
}

describe('connections that a killed worker has not accepted', () => {
  it('are closed, which Node alone does not do', async function () {
    expect(await killBusyWorkers()).to.deep.equal({ closed: true, left: false, warnings: [] })
  })

  it('are distinguished from accepted connections', async () => {
    const worker = new FakeWorker()
    await worker.listen()
    const [accepted, waiting] = [connection(), connection()]
    worker.send({ cmd: 'NODE_CLUSTER', act: 'newconn', seq: 3 }, accepted)
    worker.send({ cmd: 'NODE_CLUSTER', act: 'newconn', seq: 4 }, waiting)
    worker.process.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: 3, accepted: true })
    worker.process.emit('exit')
    expect([accepted.closed, waiting.closed, worker.found]).to.deep.equal([0, 1, []])
  })

  const DIFFERENT: Readonly<Record<string, (worker: FakeWorker, handle: object) => Promise<void> | void>> = {
    'the messages of a worker': (worker) => worker.listen('OTHER'),
    'the replies to a worker': (worker) => worker.listen('NODE_CLUSTER', { cmd: 'NODE_CLUSTER', re: 1 }),
    'the message about a new connection': (worker, handle) =>
      worker.send({ cmd: 'NODE_CLUSTER', act: 'connection', seq: 5 }, handle),
  }
  for (const [what, differ] of Object.entries(DIFFERENT))
    it(`are left to Node if Node changes ${what}, with one warning`, async () => {
      const worker = new FakeWorker()
      const handle = connection()
      worker.send({ cmd: 'NODE_CLUSTER', act: 'newconn', seq: 3 }, handle)
      await differ(worker, handle)
      worker.send({ cmd: 'NODE_CLUSTER', act: 'newconn', seq: 4 }, handle)
      await differ(worker, handle)
      worker.process.emit('exit')
      expect([worker.found, handle.closed]).to.deep.equal([[what], 0])
    })
})
