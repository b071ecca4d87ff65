import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { watchExpiry } from '../../../../plugins/auth-hosted/watch-expiry.ts'
import { createEndedSessions } from '../../../../plugins/auth/sessions/ended-sessions.ts'
import { createSessionWatch } from '../../../../plugins/auth/sessions/session-watch.ts'
import { watchByIdentify } from '../../../../plugins/auth/watch-by-identify.ts'
import { countKept } from '../../../support/collect-garbage.ts'
import type { CredentialRequest, User } from 'mortar'

const LIFETIME = 900
const MINUTE = 60_000
const CLAIMS = {
  sub: 'ada',
  sid: 'session',
  iat: 0,
  exp: LIFETIME,
  jti: 'token',
  user: {},
  session: { id: 'session', methods: [] },
}
const REQUEST = {} as CredentialRequest
/** A token that expires at this time in seconds. */
const expiring = (exp: number) =>
  `header.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.signature`

/** A watch whose look-ups give these results in order, and the last one from then on. */
function scene(...results: (boolean | Error)[]) {
  const clock = { now: () => Date.now() }
  const hasEnded = () => Promise.reject(new Error('not asked'))
  const endedSessions = createEndedSessions({ lifetime: LIFETIME, clock, capacity: 3, store: { hasEnded } })
  const seen = { ends: 0, lookUps: 0 }
  const watch = createSessionWatch({
    endedSessions,
    clock,
    lifetime: LIFETIME,
    async isActive() {
      const result = results[Math.min(seen.lookUps++, results.length - 1)]!
      if (result instanceof Error) throw result
      return result
    },
  })
  return { endedSessions, seen, watch, start: () => watch(CLAIMS, () => (seen.ends += 1)) }
}

async function pass(milliseconds: number): Promise<void> {
  mock.timers.tick(milliseconds)
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

describe('The watch of a long response', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 0 }))
  afterEach(() => mock.timers.reset())

  it('ends once with its session, and not with another one', async () => {
    const { endedSessions, seen, start } = scene(true)
    start()
    start()
    endedSessions.end('another')
    expect(seen.ends).to.equal(0)
    endedSessions.end('session')
    endedSessions.end('session')
    await pass(100 * MINUTE)
    expect(seen).to.deep.equal({ ends: 2, lookUps: 0 })
  })

  it('ends immediately for a session that has ended, and for a token that is no longer valid', () => {
    const { endedSessions, seen, start, watch } = scene(true)
    endedSessions.end('session')
    start()
    watch(null, () => (seen.ends += 1))()
    expect(seen.ends).to.equal(2)
  })

  it('goes on when so many sessions end that the list forgets some, and ends with its own', () => {
    const { endedSessions, seen, start } = scene(true)
    start()
    for (const sid of ['a', 'b', 'c', 'd']) endedSessions.end(sid)
    expect(endedSessions.isComplete()).to.equal(false)
    expect(seen.ends).to.equal(0)
    endedSessions.end('session')
    expect(seen.ends).to.equal(1)
  })

  it('looks the session up immediately while the list is incomplete, then once per lifetime', async () => {
    const { endedSessions, seen, start } = scene(true, false)
    for (const sid of ['a', 'b', 'c', 'd']) endedSessions.end(sid)
    start()
    await pass(1)
    expect(seen).to.deep.equal({ ends: 0, lookUps: 1 })
    await pass(15 * MINUTE)
    expect(seen).to.deep.equal({ ends: 1, lookUps: 2 })
  })

  it('goes on while the session lives, with a look-up when the token expires and once per lifetime', async () => {
    const { seen, start } = scene(true, true, false)
    start()
    await pass(15 * MINUTE - 1)
    expect(seen).to.deep.equal({ ends: 0, lookUps: 0 })
    await pass(1)
    expect(seen).to.deep.equal({ ends: 0, lookUps: 1 })
    await pass(15 * MINUTE)
    expect(seen).to.deep.equal({ ends: 0, lookUps: 2 })
    await pass(15 * MINUTE)
    expect(seen).to.deep.equal({ ends: 1, lookUps: 3 })
    await pass(60 * MINUTE)
    expect(seen).to.deep.equal({ ends: 1, lookUps: 3 })
  })

  it('survives look-ups that fail, and repeats them', async () => {
    const { seen, start } = scene(new Error('The database is away.'), new Error('again'), false)
    start()
    await pass(15 * MINUTE)
    await pass(4999)
    expect(seen).to.deep.equal({ ends: 0, lookUps: 1 })
    await pass(1)
    expect(seen).to.deep.equal({ ends: 0, lookUps: 2 })
    await pass(5000)
    expect(seen).to.deep.equal({ ends: 1, lookUps: 3 })
  })

  it('ends nothing after it was stopped, and looks nothing up', async () => {
    const { endedSessions, seen, start } = scene(false)
    start()()
    endedSessions.end('session')
    await pass(60 * MINUTE)
    expect(seen).to.deep.equal({ ends: 0, lookUps: 0 })
  })

  it('keeps no process alive', async () => {
    mock.timers.reset()
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const { start } = scene(true)
    // The test runner starts the timer of its time limit after this function was called.
    await nextTurn()
    const before = timers()
    const stop = start()
    const after = timers()
    stop()
    expect(after).to.equal(before)
  })

  it('keeps nothing of a response that has ended before its session', async () => {
    const { endedSessions, watch } = scene(true)
    const respond = () => {
      const onEnd = () => undefined
      watch(CLAIMS, onEnd)()
      return new WeakRef(onEnd)
    }
    const response = respond()
    expect([await countKept([response]), endedSessions.size]).to.deep.equal([0, 0])
  })

  it('outlives the longest timer of Node with a token that does', async () => {
    let ends = 0
    const watch = watchExpiry({ now: () => Date.now() }, 0)
    // Node fires a timer that is too long after a millisecond; the mocked one would not.
    mock.timers.reset()
    const stop = watch(
      { token: expiring(Date.now() / 1000 + 30 * 86_400), source: 'header' },
      REQUEST,
      () => (ends += 1),
    )
    await promisify(setTimeout)(5)
    stop()
    expect(ends).to.equal(0)
  })

  it('ends with the token of a provider that keeps its sessions elsewhere', async () => {
    let ends = 0
    const token = expiring(60)
    const watch = watchExpiry({ now: () => Date.now() }, 0)
    watch({ token, source: 'header' }, REQUEST, () => (ends += 1))
    watch({ token, source: 'header' }, REQUEST, () => (ends += 1))()
    await pass(MINUTE - 1)
    expect(ends).to.equal(0)
    await pass(1)
    expect(ends).to.equal(1)
  })

  it('asks a provider without reports every 30 seconds, until it denies', async () => {
    const ada: User = { id: 'ada', raw: {} }
    const results: (User | null | Error)[] = [ada, new Error('The provider is away.'), null]
    let ends = 0
    let calls = 0
    const watch = watchByIdentify(async () => {
      const result = results[calls++]!
      if (result instanceof Error) throw result
      return result
    })
    watch({ token: 'key', source: 'cookie' }, REQUEST, () => (ends += 1))
    await pass(MINUTE)
    expect([ends, calls]).to.deep.equal([0, 2])
    await pass(MINUTE / 2)
    await pass(MINUTE)
    expect([ends, calls]).to.deep.equal([1, 3])
  })
})
