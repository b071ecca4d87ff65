import { createRequire } from 'node:module'
import { mock } from 'node:test'
import { expect } from 'chai'
import * as fc from 'fast-check'
import jsonwebtoken from 'jsonwebtoken'
import {
  createAccessTokens,
  type AccessTokensOptions,
} from '../../../../plugins/auth/tokens/access-tokens.ts'
import { deriveKeys, type Secret } from '../../../../plugins/auth/tokens/keys.ts'
import { createVerifiedCache, type VerifiedCache } from '../../../../plugins/auth/tokens/verified-cache.ts'
import { changedModule } from '../../../support/changed-module.ts'
import { TestClock } from '../support/clock.ts'

const require = createRequire(import.meta.url)

const OLD = 'the old secret of the application, 32+ bytes'
const NEW = 'the new secret of the application, 32+ bytes'
const ADA = { sub: 'ada', sid: 'session', user: { id: 'ada', role: 'admin', address: { city: 'London' } } }

function setUp(secret: Secret = OLD, options: Partial<AccessTokensOptions> = {}) {
  const clock = new TestClock()
  const issuer = 'https://app.example'
  const tokens = createAccessTokens({
    keys: deriveKeys(secret),
    issuer,
    audience: issuer,
    lifetime: 900,
    clock,
    ...options,
  })
  return { tokens, clock }
}

const segment = (token: string, index: number): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[index]!, 'base64url').toString()) as Record<string, unknown>

describe('access tokens', () => {
  it('are accepted from a version of jsonwebtoken that writes the header in another order', () => {
    const changed = changedModule(require.resolve('jsonwebtoken/sign.js'), (source) =>
      source.replace('Object.assign({\n    alg:', 'Object.assign({\n    kid: options.keyid,\n    alg:'),
    ) as typeof jsonwebtoken.sign
    mock.method(jsonwebtoken, 'sign', changed)
    try {
      const { tokens } = setUp()
      const { token } = tokens.sign(ADA)
      expect(Object.keys(segment(token, 0))[0]).to.equal('kid')
      expect(tokens.verify(token)).to.deep.include({ sub: 'ada' })
    } finally {
      mock.reset()
    }
  })
  it('say who, which session, from when, until when, and for what', () => {
    const { tokens, clock } = setUp()
    const { token, expiresIn } = tokens.sign(ADA)
    const iat = clock.now() / 1000
    expect(expiresIn).to.equal(900)
    expect(segment(token, 0))
      .to.have.all.keys('alg', 'typ', 'kid')
      .and.include({ alg: 'HS256', typ: 'at+jwt' })
    expect(segment(token, 1)).to.deep.include({
      iss: 'https://app.example',
      aud: 'https://app.example',
      ...ADA,
      iat,
      exp: iat + 900,
    })
    expect(tokens.verify(token)).to.deep.include({ ...ADA, iat, exp: iat + 900 })
  })

  it('are remembered from their second use, unless the cache has no room', () => {
    for (const [cache, isRemembered] of [
      [undefined, true],
      [0, false],
    ] as const) {
      const { tokens } = setUp(OLD, cache === undefined ? {} : { cache })
      const { token } = tokens.sign(ADA)
      const [first, second, third] = [1, 2, 3].map(() => tokens.verify(token))
      expect(first === second).to.equal(false)
      expect(second === third).to.equal(isRemembered)
    }
  })

  it('may have ids of 255 characters', () => {
    const { tokens } = setUp()
    const sub = 'a'.repeat(255)
    expect(tokens.verify(tokens.sign({ ...ADA, sub }).token)).to.have.property('sub', sub)
  })

  it('differ although they say the same', () => {
    const { tokens } = setUp()
    expect(tokens.sign(ADA).token).to.not.equal(tokens.sign(ADA).token)
  })

  it('hold until the last moment of their lifetime, verified before or not', () => {
    for (const isKnown of [true, false]) {
      const { tokens, clock } = setUp()
      const { token } = tokens.sign(ADA)
      if (isKnown) tokens.verify(token)
      clock.time += 899_999
      if (isKnown) expect(tokens.verify(token)).to.be.an('object')
      clock.time += 1
      expect(tokens.verify(token)).to.equal(null)
    }
  })

  it('of a host whose clock is two minutes ahead are good, of one further ahead not', () => {
    const { tokens, clock } = setUp()
    clock.advance(120)
    const ahead = tokens.sign(ADA).token
    clock.advance(1)
    const further = tokens.sign(ADA).token
    clock.advance(-121)
    expect(tokens.verify(ahead)).to.be.an('object')
    expect(tokens.verify(further)).to.equal(null)
  })

  it('end immediately when the lifetime becomes shorter than their age', () => {
    const { tokens, clock } = setUp()
    const { token } = tokens.sign(ADA)
    const shorter = setUp(OLD, { clock, lifetime: 60 }).tokens
    // Twice, so that the cache has it.
    for (let use = 0; use < 2; use++) expect(shorter.verify(token)).to.be.an('object')
    clock.advance(60)
    expect(shorter.verify(token)).to.equal(null)
    expect(tokens.verify(token)).to.be.an('object')
  })

  it('of an older secret are good while it is in the list', () => {
    const old = setUp(OLD)
    const { token } = old.tokens.sign(ADA)
    expect(setUp([NEW, OLD]).tokens.verify(token)).to.be.an('object')
    expect(setUp(NEW).tokens.verify(token)).to.equal(null)
  })

  it('are signed with the first secret of a list', () => {
    const { token } = setUp([NEW, OLD]).tokens.sign(ADA)
    expect(setUp(NEW).tokens.verify(token)).to.be.an('object')
    expect(setUp(OLD).tokens.verify(token)).to.equal(null)
  })

  it('give claims that nobody can change for the next request', () => {
    const { tokens } = setUp()
    const { token } = tokens.sign(ADA)
    const { user } = tokens.verify(token)!
    expect(() => Object.assign(user, { role: 'none' })).to.throw(TypeError)
    expect(() => Object.assign(user.address as object, { city: 'Paris' })).to.throw(TypeError)
    expect(tokens.verify(token)!.user).to.deep.equal(ADA.user)
  })

  it('are not made from a record that is too large for a response', () => {
    const { tokens } = setUp()
    const user = { text: 'canary'.repeat(2000) }
    expect(() => tokens.sign({ ...ADA, user }))
      .to.throw(RangeError, /user ada[^]*8192/)
      .and.satisfy((error: Error) => !error.message.includes('canary'))
  })

  it('work at the very beginning of time', () => {
    const clock = new TestClock(0)
    const { tokens } = setUp(OLD, { clock })
    const { token } = tokens.sign(ADA)
    expect(tokens.verify(token)).to.be.an('object')
    clock.advance(900)
    expect(tokens.verify(token)).to.equal(null)
  })

  it('are not taken for another one with the same signature that is remembered', () => {
    const { tokens } = setUp()
    const { token } = tokens.sign(ADA)
    const [header, payload, signature] = token.split('.') as [string, string, string]
    expect(tokens.verify(token)).to.be.an('object')
    expect(tokens.verify(`${header}.${payload.slice(0, -4)}AAAA.${signature}`)).to.equal(null)
    expect(tokens.verify(signature)).to.equal(null)
    expect(tokens.verify(token)).to.be.an('object')
  })

  it('are never accepted after a change, and verifying never throws', () => {
    const { tokens } = setUp(OLD, { cache: 0 })
    const { token } = tokens.sign(ADA)
    const position = fc.nat(token.length - 1)
    fc.assert(
      fc.property(position, fc.string({ maxLength: 3, unit: 'binary' }), fc.nat(3), (at, insert, cut) => {
        const changed = token.slice(0, at) + insert + token.slice(at + cut)
        return changed === token || tokens.verify(changed) === null
      }),
      { numRuns: 5000 },
    )
    fc.assert(
      fc.property(fc.anything(), (value) => tokens.verify(value) === null),
      { numRuns: 2000 },
    )
  })
})

describe('the tokens that are remembered', () => {
  it('are those of up to 2,048 bytes', () => {
    const { tokens } = setUp()
    const small = tokens.sign(ADA).token
    const large = tokens.sign({ ...ADA, user: { text: 'x'.repeat(2048) } }).token
    for (const token of [small, large]) tokens.verify(token)
    expect(tokens.verify(small)).to.equal(tokens.verify(small))
    expect(tokens.verify(large)).to.be.an('object').and.not.equal(tokens.verify(large))
  })
})

describe('the cache of verified tokens', () => {
  /** Stores a value, by offering it twice. */
  function store<Value>(cache: VerifiedCache<Value>, key: string, value: Value, end: number): void {
    cache.offer(key, value, end)
    cache.offer(key, value, end)
  }

  it('stores a key the second time that it is offered', () => {
    const cache = createVerifiedCache<string>(10, new TestClock())
    const end = Number.MAX_SAFE_INTEGER
    cache.offer('one', 'a', end)
    cache.offer('two', 'b', end)
    expect(cache.size).to.equal(0)
    cache.offer('one', 'c', end)
    expect(cache.get('one')).to.equal('c')
    expect(cache.get('two')).to.equal(undefined)
  })

  it('stores nothing of keys that come in turn, far more than it has room for', () => {
    const cache = createVerifiedCache<number>(100, new TestClock())
    for (let each = 0; each < 1000 * 5; each += 1)
      cache.offer(`token ${each % 1000}`, each, Number.MAX_SAFE_INTEGER)
    expect(cache.size).to.equal(0)
  })

  it('never holds more than its capacity', () => {
    const clock = new TestClock()
    const cache = createVerifiedCache<number>(3, clock)
    for (let each = 0; each < 10; each += 1) store(cache, `token ${each}`, each, clock.now() + 1000)
    expect(cache.size).to.equal(3)
  })

  it('gives the place of the oldest to one of eight that come when it is full', () => {
    const clock = new TestClock()
    const cache = createVerifiedCache<number>(3, clock)
    for (let each = 0; each < 3 + 8; each += 1) store(cache, `token ${each}`, each, clock.now() + 1000)
    const kept = Array.from({ length: 11 }, (_, each) => each).filter(
      (each) => cache.get(`token ${each}`) === each,
    )
    expect(kept).to.deep.equal([1, 2, 10])
  })

  it('still knows most of the keys when more come in turn than it has room for', () => {
    const clock = new TestClock()
    const cache = createVerifiedCache<number>(100, clock)
    let hits = 0
    for (let each = 0; each < 120 * 50; each += 1) {
      const key = `token ${each % 120}`
      if (cache.get(key) === undefined) cache.offer(key, each, clock.now() + 1000)
      else hits += 1
    }
    expect(hits / (120 * 50)).to.be.above(0.7)
  })

  it('gives nothing at its end and lets go of all that has ended', () => {
    const clock = new TestClock()
    const cache = createVerifiedCache<string>(10, clock)
    store(cache, 'short', 'a', clock.now() + 1000)
    store(cache, 'forgotten', 'b', clock.now() + 2000)
    store(cache, 'long', 'c', clock.now() + 120_000)
    clock.advance(1)
    expect(cache.get('short')).to.equal(undefined)
    expect(cache.size).to.equal(2)
    clock.advance(61)
    expect(cache.get('long')).to.equal('c')
    expect(cache.size).to.equal(1)
  })

  it('keeps nothing when it has no room', () => {
    const cache = createVerifiedCache<string>(0, new TestClock())
    for (let each = 0; each < 20; each++) store(cache, `token ${each}`, 'a', Number.MAX_SAFE_INTEGER)
    expect(cache.size).to.equal(0)
  })

  it('lets go of what has ended although the clock was set back in between', () => {
    const clock = new TestClock()
    const cache = createVerifiedCache<string>(10, clock)
    clock.advance(7200)
    cache.get('any')
    clock.advance(-7200)
    store(cache, 'short', 'a', clock.now() + 1000)
    clock.advance(61)
    cache.get('any')
    expect(cache.size).to.equal(0)
  })
})
