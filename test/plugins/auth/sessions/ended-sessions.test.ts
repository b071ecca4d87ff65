import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import {
  createEndedSessions,
  type EndedSessions,
  type SessionClaims,
} from '../../../../plugins/auth/sessions/ended-sessions.ts'
import { TestClock } from '../support/clock.ts'

const LIFETIME = 900

function setUp(capacity?: number) {
  const clock = new TestClock()
  const ended = createEndedSessions({
    clock,
    lifetime: LIFETIME,
    ...(capacity !== undefined && { capacity }),
  })
  const refresh = ({ sid }: { sid: string }): SessionClaims => ({ sid, iat: Math.floor(clock.now() / 1000) })
  const login = (): SessionClaims => refresh({ sid: randomUUID() })
  return { clock, ended, login, refresh }
}

const states = (ended: EndedSessions, tokens: readonly SessionClaims[]): boolean[] =>
  tokens.map((each) => ended.isEnded(each))

describe('ended sessions', () => {
  it('are those that were ended, and no others, whenever their token was issued', () => {
    const { clock, ended, login, refresh } = setUp()
    const tokens = [login(), login(), login()]
    ended.end(tokens[0]!.sid)
    expect(states(ended, tokens)).to.deep.equal([true, false, false])
    clock.advance(3)
    expect(states(ended, tokens.map(refresh))).to.deep.equal([true, false, false])
  })

  it('survive a clock that is set back, and so do sessions that begin then', () => {
    const { clock, ended, login } = setUp()
    const before = login()
    ended.end(before.sid)
    clock.advance(-3600)
    expect(states(ended, [before, login()])).to.deep.equal([true, false])
  })

  for (const [name, advance, remembered] of [
    ['immediately', 0, true],
    ['in the last second of an access token', LIFETIME - 1, true],
    ['four minutes after its end, for hosts whose clocks differ', LIFETIME + 239, true],
    ['241 seconds after its end', LIFETIME + 241, false],
  ] as const)
    it(`are ${remembered ? 'remembered' : 'forgotten'} ${name}`, () => {
      const { clock, ended, login } = setUp()
      const token = login()
      ended.end(token.sid)
      clock.advance(advance)
      expect(ended.isEnded(token)).to.equal(remembered)
      ended.end('another')
      expect(ended.size).to.equal(remembered ? 2 : 1)
    })

  it('are remembered anew when they are ended again', () => {
    const { clock, ended, login } = setUp()
    const [token, other] = [login(), login()]
    for (const { sid } of [token, other]) ended.end(sid)
    clock.advance(LIFETIME + 239)
    ended.end(token.sid)
    clock.advance(2)
    expect(states(ended, [token, other])).to.deep.equal([true, false])
    ended.end('third')
    expect(ended.size, 'the other one makes room').to.equal(2)
  })

  it('are never forgotten for want of room: then every token issued until now is over', () => {
    const { clock, ended, login, refresh } = setUp(100)
    const living = login()
    const tokens = Array.from({ length: 101 }, login)
    for (const { sid } of tokens) ended.end(sid)
    expect(ended.size).to.be.at.most(100)
    expect(states(ended, tokens)).to.deep.equal(tokens.map(() => true))
    expect(ended.isEnded(living), 'has to refresh once').to.equal(true)
    clock.advance(1)
    expect(ended.isEnded(refresh(living))).to.equal(false)
    expect(ended.isEnded(login())).to.equal(false)
    clock.advance(LIFETIME)
    expect(states(ended, tokens)).to.deep.equal(tokens.map(() => true))
  })
})
