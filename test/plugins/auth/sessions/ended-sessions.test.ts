import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createEndedSessions } from '../../../../plugins/auth/sessions/ended-sessions.ts'
import { keptAfter } from '../../../support/collect-garbage.ts'
import { TestClock } from '../support/clock.ts'

const LIFETIME = 900

/** A list beside a store to which each end is published first. `asked` has the sessions that the store was asked about. */
function setUp(capacity?: number) {
  const clock = new TestClock()
  const published = new Set<string>()
  const asked: string[] = []
  const store = { hasEnded: async (sid: string) => published.has(sid) }
  const ended = createEndedSessions({
    clock,
    lifetime: LIFETIME,
    store: {
      hasEnded(sid) {
        asked.push(sid)
        return store.hasEnded(sid)
      },
    },
    ...(capacity !== undefined && { capacity }),
  })
  const end = (sid: string): void => {
    published.add(sid)
    ended.end(sid)
  }
  const areEnded = (sids: readonly string[]) => Promise.all(sids.map(async (sid) => ended.isEnded(sid)))
  return { clock, ended, end, areEnded, asked, store }
}

const logins = (count: number): string[] => Array.from({ length: count }, () => randomUUID())

describe('ended sessions', () => {
  it('are those that were ended, and no others', () => {
    const { clock, ended } = setUp()
    const sids = logins(3)
    ended.end(sids[0]!)
    for (let second = 0; second < 3; second++, clock.advance(1))
      expect(sids.map((sid) => ended.isEnded(sid))).to.deep.equal([true, false, false])
  })

  it('survive a clock that is set back', () => {
    const { clock, ended } = setUp()
    ended.end('before')
    clock.advance(-3600)
    expect(['before', 'later'].map((sid) => ended.isEnded(sid))).to.deep.equal([true, false])
  })

  for (const [name, advance, remembered] of [
    ['immediately', 0, true],
    ['in the last second of an access token', LIFETIME - 1, true],
    ['four minutes after its end, for hosts whose clocks differ', LIFETIME + 239, true],
    ['241 seconds after its end', LIFETIME + 241, false],
  ] as const)
    it(`are ${remembered ? 'remembered' : 'forgotten'} ${name}`, () => {
      const { clock, ended } = setUp()
      ended.end('session')
      clock.advance(advance)
      expect(ended.isEnded('session')).to.equal(remembered)
      ended.end('another')
      expect(ended.size).to.equal(remembered ? 2 : 1)
    })

  it('are remembered anew when they are ended again', () => {
    const { clock, ended } = setUp()
    for (const sid of ['session', 'other']) ended.end(sid)
    clock.advance(LIFETIME + 239)
    ended.end('session')
    clock.advance(2)
    expect(['session', 'other'].map((sid) => ended.isEnded(sid))).to.deep.equal([true, false])
    ended.end('third')
    expect(ended.size, 'the other one makes room').to.equal(2)
  })
})

describe('a list of ended sessions that is full', () => {
  it('asks the store once about each session that it does not know', async () => {
    const { clock, ended, end, areEnded, asked } = setUp(100)
    const [over, alive] = [logins(103), logins(2)]
    for (const sid of over) end(sid)
    expect([ended.size, ended.isComplete()]).to.deep.equal([100, false])
    for (let time = 0; time < 3; time++) {
      expect(await areEnded(over)).to.deep.equal(over.map(() => true))
      expect(await areEnded(alive)).to.deep.equal([false, false])
    }
    expect(asked).to.have.members([...over.slice(100), ...alive])
    clock.advance(LIFETIME + 239)
    expect(await areEnded(over)).to.deep.equal(over.map(() => true))
    clock.advance(2)
    expect(ended.isComplete()).to.equal(true)
    expect(ended.isEnded('another')).to.equal(false)
  })

  it('reports a session that ends after the store was asked about it', async () => {
    const { ended, end, areEnded, asked } = setUp(1)
    for (const sid of ['first', 'second']) end(sid)
    expect(await areEnded(['session'])).to.deep.equal([false])
    end('session')
    expect(await areEnded(['session'])).to.deep.equal([true])
    expect([ended.size, asked]).to.deep.equal([1, ['session', 'session']])
  })

  it('does not keep a result of the store that is older than the end', async () => {
    const { end, areEnded, store } = setUp(1)
    for (const sid of ['first', 'second']) end(sid)
    let answer!: (verdict: boolean) => void
    const { hasEnded } = store
    store.hasEnded = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    const early = areEnded(['session'])
    store.hasEnded = hasEnded
    end('session')
    answer(false)
    expect(await early, 'a request from before the end').to.deep.equal([false])
    expect(await areEnded(['session'])).to.deep.equal([true])
  })

  it('asks again after a failure, and remembers no more verdicts than ends', async () => {
    const { end, areEnded, asked, store } = setUp(2)
    for (const sid of ['first', 'second', 'third']) end(sid)
    const { hasEnded } = store
    store.hasEnded = () => Promise.reject(new Error('The store is away.'))
    expect(await areEnded(['a']).catch(({ message }: Error) => message)).to.equal('The store is away.')
    store.hasEnded = hasEnded
    for (const sid of ['a', 'a', 'b', 'c', 'a']) expect(await areEnded([sid])).to.deep.equal([false])
    expect(asked).to.deep.equal(['a', 'a', 'b', 'c', 'a'])
  })

  it('keep nothing of a session whose watches have stopped', async () => {
    const { ended } = setUp()
    const kept = await keptAfter((sid) => {
      const stops = [ended.watch(sid, () => undefined), ended.watch(sid, () => undefined)]
      for (const stop of stops) stop()
    })
    expect(kept).to.be.below(5_000_000)
    expect(ended.size).to.equal(0)
  })

  it('reach a watch that began after an end without room, whenever an earlier watch stops', () => {
    const { ended } = setUp(0)
    const reached: string[] = []
    const stop = ended.watch('session', () => reached.push('first'))
    ended.end('session')
    ended.watch('session', () => reached.push('second'))
    stop()
    ended.end('session')
    expect(reached).to.deep.equal(['first', 'second'])
  })

  it('are incomplete until the last one is over that had no room, whichever order they come in', () => {
    const { clock, ended } = setUp(1)
    ended.end('first')
    ended.end('long', clock.now() + 5000)
    ended.end('short', clock.now() + 1000)
    clock.advance(2)
    expect(ended.isComplete()).to.equal(false)
    clock.advance(4)
    expect(ended.isComplete()).to.equal(true)
  })
})
