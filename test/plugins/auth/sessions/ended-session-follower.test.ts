import { mock } from 'node:test'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { EndedSessionNews, EndedSessionReader } from '@mortar/auth'
import { MissingTable } from '../../../../plugins/auth/errors.ts'
import { endSession } from '../../../../plugins/auth/flows/sessions.ts'
import { createEndedSessionFollower } from '../../../../plugins/auth/sessions/ended-session-follower.ts'
import { createEndedSessions } from '../../../../plugins/auth/sessions/ended-sessions.ts'
import { createSessionNews } from '../../../../plugins/auth/sessions/session-news.ts'
import { loggerTo } from '../../../app/recorder.ts'
import { deferred } from '../../../support/deferred.ts'

const HOUR = 3_600_000

/** A store whose clock and answers the test decides. */
function store() {
  const facts: { id: string; at: number }[] = []
  const moments: number[] = []
  const state = {
    now: 1_000_000,
    /** Milliseconds by which the process is ahead. */
    ahead: 0,
    failure: undefined as Error | undefined,
    held: undefined as Promise<void> | undefined,
  }
  const reader: EndedSessionReader = {
    async since(moment): Promise<EndedSessionNews> {
      moments.push(moment)
      await state.held
      if (state.failure) throw state.failure
      const found = facts.filter(({ at }) => at >= moment)
      return { sessions: found.map(({ id }) => ({ id, until: state.now + HOUR })), now: state.now }
    },
    close: () => void moments.push(Number.NaN),
  }
  return { facts, moments, state, reader }
}

function follow(source: ReturnType<typeof store>) {
  const clock = { now: () => source.state.now + source.state.ahead }
  const known = createEndedSessions({ lifetime: 900, store: { hasEnded: async () => false }, clock })
  const changes: unknown[] = []
  const offsets: number[] = []
  let time = 0
  const follower = createEndedSessionFollower({
    reader: source.reader,
    known,
    staleAfter: 3000,
    clock,
    onClock: (offset) => offsets.push(offset),
    onChange: (failure) => changes.push(failure),
    time: () => time,
  })
  const isEnded = (sid: string) => known.isEnded(sid)
  return {
    follower,
    known,
    changes,
    offsets,
    isEnded,
    pass: (milliseconds: number) => (time += milliseconds),
  }
}

/** The news of a process whose list is stale after so many seconds. */
const newsOf = (source: ReturnType<typeof store>, staleAfter: number, lines: unknown[] = []) =>
  createSessionNews({
    store: { readEnded: () => source.reader },
    endedSessions: follow(source).known,
    events: { emit: () => undefined } as never,
    logger: loggerTo((line) => lines.push(line)),
    clock: { now: () => source.state.now },
    lifetimes: { staleAfter },
  })

describe('The follower of ended sessions', () => {
  it('reads everything at its start, and is current for a second', async () => {
    const source = store()
    source.facts.push({ id: 'old', at: 1 })
    const { follower, isEnded, pass } = follow(source)
    await follower.start()
    expect(isEnded('old')).to.equal(true)
    expect(follower.ensureCurrent()).to.equal(undefined)
    pass(999)
    expect(follower.ensureCurrent()).to.equal(undefined)
    pass(1)
    expect(follower.ensureCurrent()).to.be.a('promise')
    follower.stop()
  })

  it('keeps no process alive, although it goes on reading', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const { follower } = follow(store())
    // The test runner starts the timer of its time limit after this function was called.
    await nextTurn()
    const before = timers()
    await follower.start()
    expect(timers()).to.equal(before)
    follower.stop()
  })

  it('covers the last ten seconds by the clock of the store again: a commit may come late', async () => {
    const source = store()
    const { follower, isEnded, pass } = follow(source)
    await follower.start()
    source.facts.push({ id: 'late', at: source.state.now - 9_999 })
    pass(1000)
    await follower.ensureCurrent()
    expect(source.moments).to.deep.equal([-10_000, 990_000])
    expect(isEnded('late')).to.equal(true)
    follower.stop()
  })

  it('follows the clock of the store when it is set back', async () => {
    const source = store()
    const { follower, isEnded, pass } = follow(source)
    await follower.start()
    source.state.now -= 60_000
    for (const id of ['first', 'second']) {
      source.facts.push({ id, at: source.state.now })
      pass(1000)
      await follower.ensureCurrent()
    }
    expect([isEnded('first'), isEnded('second')]).to.deep.equal([true, true])
    follower.stop()
  })

  it('reports a clock that is more than half a minute ahead', async () => {
    const reported = await Promise.all(
      [30_000, 30_001].map(async (ahead) => {
        const source = store()
        source.state.ahead = ahead
        const { follower, offsets } = follow(source)
        await follower.start()
        follower.stop()
        return offsets
      }),
    )
    expect(reported).to.deep.equal([[0], [30_001]])
  })

  it('covers more of the past than a publication may take', async () => {
    const source = store()
    const { follower, pass } = follow(source)
    await follower.start()
    pass(1000)
    await follower.ensureCurrent()
    follower.stop()
    const covered = source.state.now - source.moments[1]!
    mock.timers.enable({ apis: ['setTimeout'] })
    const publishEnded = () => new Promise(() => {})
    const parts = { endedSessions: { expiry: () => HOUR }, store: { publishEnded } } as never
    const failed = endSession(parts, 'sid').catch((reason: unknown) => reason)
    mock.timers.tick(covered / 2)
    mock.timers.reset()
    expect(await Promise.race([failed, nextTurn('goes on')])).to.include({ status: 503 })
  })

  it('lets callers that come while it is not current share one read', async () => {
    const source = store()
    const { follower, pass } = follow(source)
    await follower.start()
    pass(1000)
    await Promise.all([follower.ensureCurrent(), follower.ensureCurrent(), follower.ensureCurrent()])
    expect(source.moments).to.have.length(2)
    follower.stop()
  })

  it('counts the age of the list from the beginning of a read, not from its end', async () => {
    const source = store()
    const { follower, pass } = follow(source)
    await follower.start()
    pass(5000)
    let open!: () => void
    source.state.held = new Promise((resolve) => {
      open = resolve
    })
    const reading = follower.ensureCurrent()
    pass(1000)
    open()
    await reading
    expect(follower.age()).to.equal(1)
    follower.stop()
  })

  it('reads again when one read fails, for all callers together', async () => {
    const source = store()
    const { follower, changes, isEnded, pass } = follow(source)
    await follower.start()
    pass(3000)
    let fail!: (error: Error) => void
    source.state.held = new Promise((_, reject) => {
      fail = reject
    })
    const waiting = Promise.all([follower.ensureCurrent(), follower.ensureCurrent()])
    source.facts.push({ id: 'ended', at: source.state.now })
    source.state.held = undefined
    fail(new Error('lost'))
    await waiting
    expect(isEnded('ended')).to.equal(true)
    expect(source.moments).to.have.length(3)
    expect(changes).to.deep.equal([])
    follower.stop()
  })

  it('refuses with 503 while the store cannot be read, reports it once, and recovers', async () => {
    const source = store()
    const { follower, changes, pass } = follow(source)
    await follower.start()
    pass(3000)
    const failure = new Error('away')
    source.state.failure = failure
    for (let count = 0; count < 2; count++) {
      const refusal = await follower.ensureCurrent()!.catch((error: unknown) => error)
      expect(refusal).to.include({ status: 503, code: 'session_state_unknown' })
    }
    source.state.failure = undefined
    await follower.ensureCurrent()
    expect(follower.ensureCurrent()).to.equal(undefined)
    expect(changes).to.deep.equal([failure, null])
    follower.stop()
  })

  it('waits half a second at most for a read, while the list is not stale', async () => {
    const source = store()
    const { follower, changes, pass } = follow(source)
    await follower.start()
    pass(1000)
    source.state.held = new Promise(() => {})
    await follower.ensureCurrent()
    expect(source.moments).to.have.length(2)
    source.state.held = undefined
    expect(changes).to.deep.equal([])
    follower.stop()
  })

  it('waits for no read that is slow, until the list is stale', async () => {
    const source = store()
    const { follower, pass } = follow(source)
    await follower.start()
    let open!: () => void
    source.state.held = new Promise((resolve) => {
      open = resolve
    })
    pass(1000)
    const waiting = follower.ensureCurrent()
    pass(499)
    expect(follower.ensureCurrent()).to.be.a('promise')
    pass(1)
    expect(follower.ensureCurrent()).to.equal(undefined)
    pass(1499)
    expect(follower.ensureCurrent()).to.equal(undefined)
    expect(follower.isStale()).to.equal(false)
    pass(1)
    expect(follower.isStale()).to.equal(true)
    const last = follower.ensureCurrent()
    open()
    await Promise.all([waiting, last])
    // The read took two seconds, so the next one is expected to be slow too.
    expect(follower.ensureCurrent()).to.equal(undefined)
    expect(source.moments).to.have.length(2)
    follower.stop()
  })

  it('serves by the list while reads fail, until it is stale', async () => {
    const source = store()
    const { follower, changes, pass } = follow(source)
    await follower.start()
    source.state.failure = new Error('away')
    pass(2999)
    await follower.ensureCurrent()
    expect(changes).to.deep.equal([])
    pass(1)
    const refusal = await follower.ensureCurrent()!.catch((error: unknown) => error)
    expect(refusal).to.include({ status: 503, code: 'session_state_unknown' })
    expect(changes).to.deep.equal([source.state.failure])
    follower.stop()
  })

  it('reads by itself twice a second, goes on after a failure, and ends with the application', async () => {
    const source = store()
    const { follower } = follow(source)
    await follower.start()
    source.state.failure = new Error('away')
    while (source.moments.length < 2) await wait(20)
    source.state.failure = undefined
    const read = deferred()
    source.state.held = read.promise
    while (source.moments.length < 3) await wait(20)
    follower.stop()
    read.resolve()
    const count = source.moments.length
    expect(source.moments.at(-1)).to.be.NaN
    await wait(600)
    expect(source.moments).to.have.length(count)
  })

  describe('beside a store with another clock', () => {
    const HALF = 30_000

    it('leaves times as they are while the clocks differ by at most half a minute', async () => {
      const source = store()
      const { follower, known, offsets } = follow(source)
      await follower.start()
      follower.stop()
      for (const ahead of [0, HALF, -HALF]) {
        source.state.ahead = ahead
        const again = follow(source)
        await again.follower.start()
        again.follower.stop()
        expect([again.known.storeAhead, again.follower.clockOffset()]).to.deep.equal([0, ahead / 1000])
      }
      expect([known.storeAhead, offsets]).to.deep.equal([0, [0]])
    })

    it('keeps a record of a store that is behind for its whole time', async () => {
      const source = store()
      source.state.ahead = HOUR
      source.facts.push({ id: 'ended', at: source.state.now })
      const { follower, isEnded } = follow(source)
      await follower.start()
      follower.stop()
      expect(isEnded('ended')).to.equal(true)
      source.state.ahead += HOUR
      expect(isEnded('ended')).to.equal(false)
    })

    it('measures a larger difference, and keeps it while it does not change much', async () => {
      const source = store()
      source.state.ahead = HOUR
      const { follower, known, offsets, pass } = follow(source)
      await follower.start()
      expect(known.storeAhead).to.equal(-HOUR)
      expect(follower.clockOffset()).to.equal(3600)
      for (const [ahead, expected] of [
        [HOUR + 4000, HOUR],
        [HOUR + 6000, HOUR + 6000],
        [-HOUR, -HOUR],
        [1000, 0],
      ] as const) {
        source.state.ahead = ahead
        pass(1000)
        await follower.ensureCurrent()
        expect(offsets.at(-1)).to.equal(expected)
      }
      follower.stop()
    })

    it('does not take the time of a read for a difference', async () => {
      const source = store()
      let asked = 0
      const { reader } = source
      const slow: EndedSessionReader = {
        close: () => reader.close(),
        async since(moment) {
          const news = await reader.since(moment)
          source.state.ahead += 60_000
          asked += 1
          return { ...news, now: news.now + 59_000 }
        },
      }
      const { follower } = follow({ ...source, reader: slow })
      await follower.start()
      follower.stop()
      expect([asked, follower.clockOffset()]).to.deep.equal([1, 0])
    })
  })
})

describe('The news of ended sessions', () => {
  for (const [name, isThere, expected] of [
    [
      'serves by an empty list before the migration that makes the table, and warns once',
      false,
      ['served', 1],
    ],
    ['refuses with 503 once a table that was there is missing', true, [503, 0]],
  ] as const)
    it(name, async () => {
      const source = store()
      const missing = new MissingTable('auth_ended_sessions', new Error('no such table'))
      if (!isThere) source.state.failure = missing
      const lines: unknown[] = []
      const news = newsOf(source, 0.02, lines)
      await news.start()
      source.state.failure = missing
      while (!news.isUnknown()) await wait(5)
      const served = await Promise.resolve(news.whenCurrent(() => 'served')).catch(({ status }) => status)
      news.stop()
      expect([served, lines.length]).to.deep.equal(expected)
    })

  it('closes its reader if the start fails', async () => {
    const source = store()
    source.state.failure = new Error('away')
    const news = newsOf(source, 3)
    expect(await news.start().catch((error: unknown) => error)).to.equal(source.state.failure)
    expect(source.moments).to.deep.equal([-10_000, Number.NaN])
  })
})
