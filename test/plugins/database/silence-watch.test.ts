import { EventEmitter } from 'node:events'
import { mock } from 'node:test'
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { typeorm } from '@mortar/database'
import { closeLate } from '../../../plugins/database/connections/close-late.ts'
import { withWatchedPool as withMysqlPool } from '../../../plugins/database/connections/mysql-pool.ts'
import { withWatchedPool as withPgPool } from '../../../plugins/database/connections/postgres-pool.ts'
import { noticingReadOnly } from '../../../plugins/database/connections/read-only.ts'
import { createLink } from '../../../plugins/database/connections/link.ts'
import { type ProbeAnswer, SilenceWatch } from '../../../plugins/database/connections/silence-watch.ts'
import { unavailabilityOf } from '../../../plugins/database/connections/unavailable.ts'
import { limitsOf, watchConnections } from '../../../plugins/database/connections/watch-connections.ts'
import { type Hold, TransactionGate } from '../../../plugins/database/gate/transaction-gate.ts'

const ignore = (): void => undefined
const away = (): Promise<ProbeAnswer> => Promise.reject(new Error('away'))

/** A connection whose server owes a response and never sends it, and the clock of the process. */
function scene({ isPaused = false, isOpening = false, probe = away, silence = 30_000 } = {}) {
  let now = 0
  mock.timers.enable({ apis: ['setInterval'] })
  mock.method(performance, 'now', () => now)
  const destroy = mock.fn()
  const once = mock.fn((_event: string, _act: () => void) => undefined)
  const socket = { bytesRead: 0, bytesWritten: 0, isPaused: () => isPaused, once, destroy }
  const watch = new SilenceWatch({ probe, silence: () => silence, connectTimeout: 10_000 })
  const link = createLink(() => socket as never)
  watch.add(link)
  if (!isOpening) {
    watch.answered(link)
    watch.asked(link)
  }
  /** Lets time pass between two looks. */
  const pass = (milliseconds: number): void => {
    now += milliseconds
    mock.timers.tick(250)
  }
  return { pass, watch, link, socket, isEnded: () => destroy.mock.callCount() > 0 }
}

describe('A connection whose server does not respond', () => {
  afterEach(() => {
    mock.reset()
  })

  it('is ended after the limit of its silence', () => {
    const { pass, isEnded } = scene()
    for (let look = 0; look < 119; look++) pass(250)
    expect(isEnded()).to.equal(false)
    pass(250)
    expect(isEnded()).to.equal(true)
  })

  it('is not ended while the application has paused the reading of the response', () => {
    const { pass, isEnded } = scene({ isPaused: true })
    for (let look = 0; look < 500; look++) pass(250)
    expect(isEnded()).to.equal(false)
  })

  it('is ended at the limit of its opening, in which a socket may be paused', () => {
    const { pass, isEnded } = scene({ isPaused: true, isOpening: true })
    for (let look = 0; look < 39; look++) pass(250)
    expect(isEnded()).to.equal(false)
    pass(250)
    expect(isEnded()).to.equal(true)
  })

  for (const server of ['ours', 'another'])
    it(`is ${server === 'ours' ? '' : 'not '}ended if the probe finds no such session on ${server} server`, async () => {
      const { pass, link, isEnded } = scene({ probe: async () => ({ server, working: new Set() }) })
      link.identity = { session: 7, server: 'ours' }
      for (let look = 0; look < 8; look++) {
        pass(250)
        await nextTurn()
      }
      expect(isEnded()).to.equal(server === 'ours')
    })

  it('is asked about by eight probes that wait, one each half second', () => {
    const probe = mock.fn(() => new Promise<ProbeAnswer>(() => {}))
    const { pass } = scene({ probe })
    const counts = [4, 2, 2, 100].map((looks) => {
      for (let look = 0; look < looks; look++) pass(250)
      return probe.mock.callCount()
    })
    expect(counts).to.deep.equal([1, 2, 3, 8])
  })

  it('is asked about every ten seconds at least while the server works on its statement for an hour', async () => {
    const probe = mock.fn(async () => ({ server: 'ours', working: new Set([7]) }))
    const { pass, link } = scene({ probe, silence: 600_000 })
    link.identity = { session: 7, server: 'ours' }
    const gaps: number[] = []
    let last = 0
    for (let quarter = 0; quarter < 4 * 3600; quarter++) {
      const before = probe.mock.callCount()
      pass(250)
      if (probe.mock.callCount() === before) continue
      gaps.push((quarter - last) / 4)
      last = quarter
      await nextTurn()
    }
    // A second of silence comes before each question.
    expect(Math.max(...gaps)).to.be.within(10, 11.5)
  })

  it('is not suspected while a large statement is still sent', () => {
    const probe = mock.fn(away)
    const { pass, socket } = scene({ probe })
    // 64 bytes in a millisecond, and then a second.
    socket.bytesWritten = 64 * 4000
    for (let look = 0; look < 19; look++) pass(250)
    expect(probe.mock.callCount()).to.equal(0)
    pass(250)
    expect(probe.mock.callCount()).to.equal(1)
  })

  it('is replaced with the others once a second at most when its server accepts no writes', () => {
    const { pass, watch, link } = scene()
    watch.retire(link)
    const later = createLink(link.socket)
    watch.add(later)
    pass(999)
    watch.retire(link)
    expect([link.isRetired, later.isRetired]).to.deep.equal([true, false])
    pass(1)
    watch.retire(link)
    expect(later.isRetired).to.equal(true)
  })

  it('is closed after the end of its pool, but not while a statement runs', () => {
    const { watch, link, socket } = scene()
    closeLate(link)
    mock.timers.tick(5000)
    expect(socket.destroy.mock.callCount()).to.equal(0)
    watch.answered(link)
    mock.timers.tick(1000)
    expect(socket.destroy.mock.callCount()).to.equal(1)
    for (const { arguments: given } of socket.once.mock.calls) given[1]()
    mock.timers.tick(5000)
    expect(socket.destroy.mock.callCount()).to.equal(1)
  })

  it('is forgotten when its socket closes', () => {
    const { watch, socket } = scene()
    expect([...watch.links]).to.have.length(1)
    for (const { arguments: given } of socket.once.mock.calls) given[1]()
    expect([...watch.links]).to.deep.equal([])
  })

  it('is checked by one timer, which ends with the response', () => {
    const { pass, watch, link } = scene()
    const ended = mock.method(globalThis, 'clearInterval')
    watch.asked(link)
    pass(250)
    expect(ended.mock.callCount()).to.equal(0)
    watch.answered(link)
    pass(250)
    expect(ended.mock.callCount()).to.equal(1)
    ended.mock.restore()
  })

  it('is not ended for the time for which the process itself stood still', () => {
    const { pass, isEnded } = scene()
    for (let look = 0; look < 10; look++) pass(60_000)
    expect(isEnded()).to.equal(false)
  })
})

describe('A pool whose driver cannot be watched', () => {
  const limits = {
    poolTimeout: () => 1000,
    silence: () => 1000,
    statementTimeout: () => undefined,
    refusesWrites: () => false,
    onPool: () => undefined,
  }
  const refuse = (callback: (error: Error) => void): void => callback(new Error('connect ECONNREFUSED'))
  const POOLS: Readonly<Record<string, () => { connect(callback: (error?: Error) => void): unknown }>> = {
    mysql2() {
      const driver = { createPool: () => ({ on: ignore, getConnection: refuse }) }
      const pool = withMysqlPool(driver as never, limits).createPool({})
      return { connect: (callback) => pool.getConnection((error) => callback(error ?? undefined)) }
    },
    pg() {
      const driver = {
        Pool: class {
          connect(callback: (error: Error) => void) {
            refuse(callback)
          }
        },
        Client: EventEmitter,
        types: { getTypeParser: () => ignore },
      }
      return new (withPgPool(driver as never, limits).Pool)({})
    },
  }
  for (const [driver, open] of Object.entries(POOLS))
    it(`reports a server that refuses connections as unavailable: ${driver}`, () => {
      let seen: unknown
      open().connect((error) => (seen = unavailabilityOf(error)))
      expect(seen).to.equal('database_unavailable')
    })
})

describe('The limits of connections', () => {
  it('are those of another DataSource beside it, in seconds', () => {
    const dataSource = new typeorm.DataSource({ type: 'better-sqlite3', database: ':memory:' })
    expect(limitsOf(dataSource)).to.deep.equal({ poolTimeout: 10, silence: 30 })
    watchConnections(dataSource, { poolTimeout: '2s', silence: 3 })
    expect(limitsOf(dataSource)).to.deep.equal({ poolTimeout: 2, silence: 3 })
  })
})

describe('A statement that MariaDB refuses', () => {
  const REFUSALS = {
    'The MariaDB server is running with the --read-only option so it cannot execute this statement': true,
    'The MariaDB server is running with the --secure-file-priv option so it cannot execute this statement': false,
  }
  for (const [message, isReadOnly] of Object.entries(REFUSALS))
    it(`${isReadOnly ? 'replaces' : 'keeps'} the connections: ${message}`, () => {
      const seen: string[] = []
      const note = (what: string) => (): void => void seen.push(what)
      const args = noticingReadOnly(['delete', note('callback')], note('retire'), note('end'))
      ;(args.at(-1) as (error: object) => void)({ errno: 1290, message })
      expect(seen).to.deep.equal(isReadOnly ? ['end', 'retire', 'callback'] : ['end', 'callback'])
    })
})

describe('The gate of one SQLite connection', () => {
  it('warns of an owner that keeps others waiting, and not of one that has just begun', () => {
    const warnings: string[] = []
    const timers: (() => void)[] = []
    const gate = new TransactionGate({
      inTransaction: () => false,
      warn: (message) => warnings.push(message),
      warnAfter: () => 1000,
      schedule: (callback) => {
        timers.push(callback)
        return () => undefined
      },
    })
    const [one, two, three] = [{}, {}, {}]
    const hold = gate.enter(one) as Hold
    for (const each of [two, three]) void gate.enter(each)
    gate.leave(hold)
    expect(gate.isHeldBy(two)).to.equal(true)
    timers.shift()!()
    expect(warnings).to.deep.equal([])
    timers.shift()!()
    expect(warnings).to.have.length(1)
  })

  it('stays with its holder when a statement of an earlier connection ends', () => {
    const gate = new TransactionGate({ inTransaction: () => false, warn: ignore, warnAfter: () => 1000 })
    const earlier = gate.enter({}) as Hold
    gate.reset()
    const holder = {}
    void gate.enter(holder)
    gate.leave(earlier)
    expect(gate.isHeldBy(holder)).to.equal(true)
  })
})
