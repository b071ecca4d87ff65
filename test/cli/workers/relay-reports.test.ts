import { EventEmitter } from 'node:events'
import { mock } from 'node:test'
import { expect } from 'chai'
import { shareReport, type ReportChannel } from '../../../src/app/life/process-report.ts'
import { relayReports } from '../../../src/cli/workers/relay-reports.ts'
import { keptAfter } from '../../support/collect-garbage.ts'
import { deferred } from '../../support/deferred.ts'
import { settle } from './fakes.ts'

const copy = (message: unknown): unknown => JSON.parse(JSON.stringify(message))
const sum = async (reports: readonly number[]): Promise<number> => reports.reduce((one, other) => one + other)

/**
 * A primary process, and workers whose messages take a turn of the event loop.
 * @param received called with each message that the primary process has received.
 */
function createWorkers(received: (message: { readonly mortar?: string }) => void = () => undefined) {
  const cluster = new EventEmitter()
  relayReports(cluster)
  cluster.on('message', (_worker, message: { readonly mortar?: string }) => received(message))
  return (own: () => Promise<number>) => {
    const listeners = new Set<(message: unknown) => void>()
    const state = { isSilent: false, isConnected: true }
    const worker = {
      isConnected: () => state.isConnected,
      send(message: unknown) {
        const given = copy(message)
        setImmediate(() => {
          for (const listener of state.isSilent ? [] : listeners) listener(given)
        })
      },
    }
    const channel: ReportChannel = {
      send(message, _handle, _options, sent) {
        cluster.emit('message', worker, copy(message))
        sent()
      },
      on: (_event, listener) => listeners.add(listener),
      off: (_event, listener) => listeners.delete(listener),
    }
    const share = (name: string, report: () => Promise<number>) =>
      shareReport(name, report, { combineEnded: sum, channel })
    const { collect, stop } = share('served', own)
    const crash = (): void => {
      state.isConnected = false
      cluster.emit('disconnect', worker)
    }
    return { collect, stop, crash, share, state }
  }
}

describe('The reports of several workers', () => {
  afterEach(() => mock.timers.reset())

  it('have the last report of a worker that has become silent, after a while, and then its current one', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const join = createWorkers()
    let served = 10
    const asking = join(async () => 1)
    const silent = join(async () => served)
    expect(await asking.collect()).to.have.members([1, 10])
    served = 20
    silent.state.isSilent = true
    const late = asking.collect()
    await settle()
    mock.timers.tick(2500)
    expect(await late).to.deep.equal([1, 10])
    silent.state.isSilent = false
    expect(await asking.collect()).to.have.members([1, 20])
  })

  it('are collected once, and leave nothing in the primary process', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const asked: unknown[] = []
    const join = createWorkers(({ mortar }) => asked.push(mortar))
    const asking = join(async () => 1)
    join(async () => 10)
    await asking.collect()
    const before = asked.length
    mock.timers.tick(2500)
    await settle()
    expect(asked.slice(before)).to.deep.equal([])
    mock.timers.reset()
    let report = ''
    const long = join(async () => report as never)
    const kept = await keptAfter(async (name) => {
      asked.length = 0
      report = name
      await long.collect()
    })
    expect(kept).to.be.below(5e6)
  })

  it('have each report of ended workers once if two workers combine them at one time', async () => {
    let ends: { stop(): Promise<void> }[] = []
    const join = createWorkers(({ mortar }) => {
      if (mortar === 'report:combined') for (const { stop } of ends.splice(0)) void stop()
    })
    const asking = [1, 2].map((own) => join(async () => own))
    for (const { stop } of [10, 20].map((own) => join(async () => own))) await stop()
    // Its last report comes between the two combinations.
    ends = [join(async () => 5)]
    for (const each of await Promise.all(asking.map(({ collect }) => collect())))
      expect(each).to.have.members([1, 2, 5, 30])
    expect(ends).to.deep.equal([])
    expect(await asking[0]!.collect()).to.have.members([1, 2, 35])
  })

  it('have those of a hundred ended workers if nobody has asked meanwhile', async () => {
    const join = createWorkers()
    for (let count = 0; count < 110; count++) await join(async () => 1).stop()
    expect(
      await join(async () => 0)
        .collect()
        .then(sum),
    ).to.equal(100)
  })

  it('have a worker that has ended its report of another name meanwhile', async () => {
    const join = createWorkers()
    const asking = join(async () => 1)
    const own = deferred<number>()
    const other = join(() => own.promise)
    const { stop } = other.share('other', async () => 5)
    const collected = asking.collect()
    await settle()
    await stop()
    own.resolve(2)
    expect(await collected).to.have.members([1, 2])
  })

  it('are without that of a worker that cannot make one, and do not wait for it', async () => {
    const join = createWorkers()
    const asking = join(async () => 1)
    join(async () => 2)
    let isBroken = true
    join(() => (isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(4)))
    expect(await asking.collect()).to.have.members([1, 2])
    isBroken = false
    expect(await asking.collect()).to.have.members([1, 2, 4])
  })

  it('have a worker that ends while they are collected once, and those that have ended together', async () => {
    const join = createWorkers()
    const asking = join(async () => 1)
    const [first, second, third] = [2, 4, 8].map((served) => join(async () => served))
    await asking.collect()
    third!.crash()
    second!.state.isSilent = true
    const collected = asking.collect()
    await settle()
    await first!.stop()
    second!.crash()
    const both = [await collected, await asking.collect()]
    expect(await Promise.all(both.map(sum))).to.deep.equal([15, 15])
    expect(await asking.collect()).to.deep.equal([1, 14])
  })
})
