import { expect } from 'chai'
import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { createEndedSessions, type EndedSessions } from '../../../../plugins/auth/ended-sessions.ts'
import { TestClock } from './clock.ts'

const LIFETIME = 900

/** A token of a session: its claims. */
interface Token {
  sid: string
  sub: string
  iat: number
}

function setUp(capacity?: number) {
  const clock = new TestClock()
  const ended = createEndedSessions({
    clock,
    lifetime: LIFETIME,
    ...(capacity !== undefined && { capacity }),
  })
  const tokenOf = (sub: string, sid: string): Token => ({ sub, sid, iat: Math.floor(clock.now() / 1000) })
  const login = (sub: string): Token => tokenOf(sub, ended.begin())
  const refresh = ({ sub, sid }: Token): Token => tokenOf(sub, sid)
  return { clock, ended, login, refresh }
}

const states = (ended: EndedSessions, tokens: readonly Token[]): boolean[] =>
  tokens.map((each) => ended.isEnded(each))

describe('ended sessions', () => {
  it('are those that were ended, and no others', () => {
    const { ended, login } = setUp()
    const tokens = [login('ada'), login('ada'), login('bob')]
    ended.end(tokens[0]!.sid)
    expect(states(ended, tokens)).to.deep.equal([true, false, false])
  })

  it('are all of a user when they are ended together, at a clock that stands still', () => {
    const { ended, login, refresh } = setUp()
    const before = [login('ada'), login('ada'), login('bob')]
    ended.endUser('ada')
    const after = [login('ada'), login('bob')]
    expect(states(ended, before)).to.deep.equal([true, true, false])
    expect(states(ended, after)).to.deep.equal([false, false])
    expect(states(ended, [...before, ...after].map(refresh))).to.deep.equal([true, true, false, false, false])
  })

  it('of a user can leave one out, until they are ended again', () => {
    const { ended, login } = setUp()
    const [one, two] = [login('ada'), login('ada')]
    ended.endUser('ada', one.sid)
    expect(states(ended, [one, two])).to.deep.equal([false, true])
    const three = login('ada')
    ended.endUser('ada', three.sid)
    expect(states(ended, [one, two, three])).to.deep.equal([true, true, false])
    ended.endUser('ada')
    expect(states(ended, [one, two, three])).to.deep.equal([true, true, true])
  })

  it('stay ended when the session left out logs out', () => {
    const { ended, login } = setUp()
    const [one, two] = [login('ada'), login('ada')]
    ended.endUser('ada', one.sid)
    ended.end(one.sid)
    expect(states(ended, [one, two])).to.deep.equal([true, true])
  })

  it('stay ended when one of them is left out later', () => {
    const { ended, login } = setUp()
    const [one, two] = [login('ada'), login('ada')]
    ended.endUser('ada', one.sid)
    ended.endUser('ada', two.sid)
    expect(states(ended, [one, two])).to.deep.equal([true, true])
  })

  it('stay ended although a refresh that was under way signs a token afterwards', () => {
    const { clock, ended, login, refresh } = setUp()
    const token = login('ada')
    ended.endUser('ada')
    clock.advance(3)
    expect(ended.isEnded(refresh(token))).to.equal(true)
  })

  it('include a session whose login was under way when the user was ended', () => {
    const { clock, ended } = setUp()
    const sid = ended.begin()
    ended.endUser('ada')
    clock.advance(2)
    expect(ended.isEnded({ sid, sub: 'ada', iat: Math.floor(clock.now() / 1000) })).to.equal(true)
  })

  it('survive a clock that is set back, and so do sessions that begin then', () => {
    const { clock, ended, login } = setUp()
    const before = login('ada')
    ended.endUser('ada')
    clock.advance(-3600)
    const after = login('ada')
    expect(states(ended, [before, after])).to.deep.equal([true, false])
  })

  for (const [name, advance, remembered] of [
    ['at once', 0, true],
    ['in the last second of an access token', LIFETIME - 1, true],
    ['at its end, for hosts whose clocks differ', LIFETIME, true],
    ['6 seconds after that', LIFETIME + 6, false],
  ] as const)
    it(`are ${remembered ? 'remembered' : 'forgotten'} ${name}`, () => {
      const { clock, ended, login } = setUp()
      const tokens = [login('ada'), login('bob')]
      ended.end(tokens[0]!.sid)
      ended.endUser('bob')
      clock.advance(advance)
      expect(states(ended, tokens)).to.deep.equal([remembered, remembered])
      ended.end('another')
      expect(ended.size).to.equal(remembered ? 3 : 1)
    })

  it('are remembered anew when they are ended again', () => {
    const { clock, ended, login } = setUp()
    const [token, other] = [login('ada'), login('ada')]
    ended.end(token.sid)
    ended.endUser('ada')
    clock.advance(LIFETIME - 1)
    ended.end(token.sid)
    ended.endUser('ada')
    clock.advance(10)
    expect(states(ended, [token, other])).to.deep.equal([true, true])
    expect(ended.size).to.equal(2)
  })

  it('with an id of another make are judged by the second in which the token was issued, in doubt as ended', () => {
    const { clock, ended } = setUp()
    const second = Math.floor(clock.now() / 1000)
    ended.endUser('ada')
    const at = (iat: number): boolean => ended.isEnded({ sid: randomUUID(), sub: 'ada', iat })
    expect([at(second - 1), at(second), at(second + 1)]).to.deep.equal([true, true, false])
  })

  it('are never forgotten for want of room: then every token issued until now is over', () => {
    const { clock, ended, login, refresh } = setUp(100)
    const living = login('bob')
    const tokens = Array.from({ length: 101 }, () => login('ada'))
    for (const { sid } of tokens) ended.end(sid)
    expect(ended.size).to.be.at.most(100)
    expect(states(ended, tokens)).to.deep.equal(tokens.map(() => true))
    expect(ended.isEnded(living), 'has to refresh once').to.equal(true)
    clock.advance(1)
    expect(ended.isEnded(refresh(living))).to.equal(false)
    expect(ended.isEnded(login('eve'))).to.equal(false)
    clock.advance(LIFETIME)
    expect(states(ended, tokens)).to.deep.equal(tokens.map(() => true))
  })

  it('of very many users take bounded room too', () => {
    const { ended, login } = setUp(100)
    const tokens = Array.from({ length: 1000 }, (_, index) => login(`user ${index}`))
    for (const { sub } of tokens) ended.endUser(sub)
    expect(ended.size).to.be.at.most(100)
    expect(states(ended, tokens)).to.deep.equal(tokens.map(() => true))
  })

  it('agree with a plain model over any sequence of events', () => {
    const user = fc.constantFrom('ada', 'bob')
    const event: fc.Arbitrary<Event> = fc.oneof(
      fc.record({ kind: fc.constant('login' as const), user }),
      fc.record({ kind: fc.constant('end' as const), which: fc.nat() }),
      fc.record({ kind: fc.constant('endUser' as const), user, except: fc.option(fc.nat()) }),
      fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 2 }) }),
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const setting = setUp()
        const all: Modelled[] = []
        for (const each of events) apply(each, setting, all)
        const tokens = all.map(({ token }) => token)
        expect(states(setting.ended, tokens)).to.deep.equal(all.map(({ over }) => over))
      }),
      { numRuns: 500 },
    )
  })
})

type Event =
  | { kind: 'login'; user: string }
  | { kind: 'end'; which: number }
  | { kind: 'endUser'; user: string; except: number | null }
  | { kind: 'wait'; seconds: number }

interface Modelled {
  token: Token
  over: boolean
}

/** One event, in what is tested and in the model. */
function apply(event: Event, { clock, ended, login }: ReturnType<typeof setUp>, all: Modelled[]): void {
  const pick = (index: number): Modelled | undefined => all[index % Math.max(1, all.length)]
  switch (event.kind) {
    case 'login':
      all.push({ token: login(event.user), over: false })
      break
    case 'wait':
      clock.advance(event.seconds)
      break
    case 'end': {
      const one = pick(event.which)
      if (!one) break
      ended.end(one.token.sid)
      one.over = true
      break
    }
    case 'endUser': {
      const except = event.except === null ? undefined : pick(event.except)
      ended.endUser(event.user, except?.token.sid)
      for (const one of all) one.over ||= one.token.sub === event.user && one !== except
    }
  }
}
