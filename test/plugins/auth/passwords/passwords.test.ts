import argon2 from 'argon2'
import { expect } from 'chai'
import { ServiceUnavailable, StartupError } from 'mortar'
import {
  assertCost,
  createPasswords,
  DEFAULT_COST,
  type HashEngine,
  type PasswordsOptions,
} from '../../../../plugins/auth/passwords/passwords.ts'
import { HOSTILE } from './hostile-hashes.ts'

const CHEAP = { memory: 64, passes: 1, parallelism: 1 }
const PASSWORD = 'correct horse battery'

/** Passwords at a cheap cost, and a list of every argon2 computation that is made. */
function setUp(options: PasswordsOptions = {}) {
  const computed: { kind: 'hash' | 'verify'; cost: string }[] = []
  const engine: HashEngine = {
    hash: (password, settings) => {
      computed.push({
        kind: 'hash',
        cost: `m=${settings.memoryCost},t=${settings.timeCost},p=${settings.parallelism}`,
      })
      return argon2.hash(password, settings)
    },
    verify: (stored, password) => {
      computed.push({ kind: 'verify', cost: stored.split('$')[3]!.replace('p=1,t=1', 't=1,p=1') })
      return argon2.verify(stored, password)
    },
  }
  return { passwords: createPasswords({ cost: CHEAP, engine, ...options }), computed }
}

const weak = (settings: argon2.HashOptions): Promise<string> =>
  argon2.hash(PASSWORD, { memoryCost: 64, timeCost: 1, parallelism: 1, ...settings })

describe('passwords', () => {
  it('are not stored as a hash of another form, which no password would match', async () => {
    const verify = async (): Promise<boolean> => true
    for (const change of [/m=\d+,/, /argon2id/, /\$v=19/]) {
      const hash: HashEngine['hash'] = async (...given) =>
        (await argon2.hash(...given)).replace(change, 'x=1')
      const { passwords } = setUp({ engine: { hash, verify } })
      const error = await passwords.hash(PASSWORD).catch(String)
      expect(error)
        .to.match(/argon2 \d+\.\d+\.\d+ .*another form.*npm ls argon2/)
        .and.not.include('$argon2')
    }
  })

  it('are hashed with argon2id, 19 MiB, two passes, one lane, a salt of 16 bytes and 32 bytes of hash', async () => {
    const passwords = createPasswords()
    const stored = await passwords.hash(PASSWORD)
    expect(stored).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await passwords.verify(stored, PASSWORD)).to.deep.equal({ valid: true, rehash: false })
    expect(await passwords.verify(stored, `${PASSWORD}!`)).to.deep.equal({ valid: false, rehash: false })
  })

  it('give another hash each time', async () => {
    const { passwords } = setUp()
    expect(await passwords.hash(PASSWORD)).to.not.equal(await passwords.hash(PASSWORD))
  })

  it('count exactly as received, but for NFC', async () => {
    const { passwords } = setUp()
    const stored = await passwords.hash('caf\u00e9 Passwort ')
    expect(await passwords.verify(stored, 'cafe\u0301 Passwort ')).to.have.property('valid', true)
    for (const other of [
      'café Passwort',
      'Café Passwort ',
      'cafe Passwort ',
      'café passwort ',
      'café Passwort \0',
    ])
      expect(await passwords.verify(stored, other), other).to.have.property('valid', false)
  })

  it('do not end at a NUL', async () => {
    const { passwords } = setUp()
    const stored = await passwords.hash('abcdefgh\0first')
    expect(await passwords.verify(stored, 'abcdefgh\0second')).to.have.property('valid', false)
    expect(await passwords.verify(stored, 'abcdefgh')).to.have.property('valid', false)
  })

  it('that no account can have are never hashed', async () => {
    const { passwords, computed } = setUp()
    for (const password of ['lone \ud800 surrogate', 'x'.repeat(1025), 'é'.repeat(513)]) {
      const error: unknown = await passwords.hash(password).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(RangeError)
      expect((error as Error).message).to.not.include(password.slice(0, 4))
    }
    expect(computed).to.deep.equal([])
  })
})

describe('a verification', () => {
  const cost = 'm=64,t=1,p=1'

  it('takes one computation of the current cost for every stored and every sent value', async () => {
    const { passwords, computed } = setUp()
    const stored = await weak({})
    const cases: (readonly [string | null, string])[] = [
      [stored, PASSWORD],
      [stored, 'wrong password'],
      [null, PASSWORD],
      [stored, 'lone \ud800 surrogate'],
      [stored, 'x'.repeat(1_000_000)],
      [stored, ''],
      ...Object.values(HOSTILE).map((hostile) => [hostile, PASSWORD] as const),
    ]
    for (const [hash, password] of cases) {
      computed.length = 0
      const { valid } = await passwords.verify(hash, password)
      expect(valid).to.equal(hash === stored && password === PASSWORD)
      expect(computed, String(hash).slice(0, 60)).to.deep.equal([{ kind: 'verify', cost }])
    }
  })

  it('says whether a stored hash can be verified at all', async () => {
    const { passwords } = setUp()
    expect(passwords.isUsable(await weak({}))).to.equal(true)
    for (const hostile of Object.values(HOSTILE)) expect(passwords.isUsable(hostile)).to.equal(false)
  })

  const WEAKER: Record<string, argon2.HashOptions> = {
    'less memory': { memoryCost: 32 },
    'more memory': { memoryCost: 128 },
    'more passes': { timeCost: 2 },
    'more lanes': { parallelism: 2 },
    argon2i: { type: argon2.argon2i },
    argon2d: { type: argon2.argon2d },
    'the first version': { version: 0x10 },
    'a shorter hash': { hashLength: 16 },
    'a shorter salt': { salt: Buffer.from('12345678') },
  }
  for (const [name, settings] of Object.entries(WEAKER))
    it(`asks for a new hash after one with ${name}, once the password was right`, async () => {
      const { passwords } = setUp()
      const stored = await weak(settings)
      expect(await passwords.verify(stored, PASSWORD)).to.deep.equal({ valid: true, rehash: true })
      expect(await passwords.verify(stored, 'wrong password')).to.deep.equal({ valid: false, rehash: false })
      expect(await passwords.verify(await passwords.hash(PASSWORD), PASSWORD)).to.have.property(
        'rehash',
        false,
      )
    })

  it('is turned away with 503 when too many wait, for a decoy as for an account', async () => {
    const stored = await weak({})
    for (const hash of [stored, null]) {
      const { passwords, computed } = setUp({ pool: { concurrency: 1, queue: 3 } })
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, () => passwords.verify(hash, PASSWORD)),
      )
      const refused = outcomes.filter((each) => each.status === 'rejected')
      expect(refused).to.have.lengthOf(6)
      for (const each of refused) expect(each.reason).to.be.instanceOf(ServiceUnavailable)
      expect(computed).to.have.lengthOf(4)
    }
  })
})

describe('assertCost', () => {
  it('accepts the least recommended costs in production, and the default', () => {
    const costs = [undefined, {}, DEFAULT_COST, { memory: 47_104, passes: 1 }, { memory: 12_288, passes: 3 }]
    for (const cost of costs) expect(() => assertCost(cost, 'production')).to.not.throw()
  })

  it('refuses a cheaper one in production only', () => {
    for (const cost of [CHEAP, { memory: 19_455 }, { passes: 1 }, { memory: 12_287, passes: 3 }]) {
      expect(() => assertCost(cost, 'production'))
        .to.throw(StartupError, /too low for production/)
        .with.property('code', 'MORTAR_AUTH_HASH_COST')
      for (const environment of ['development', 'test'] as const)
        expect(() => assertCost(cost, environment)).to.not.throw()
    }
  })

  it('refuses everywhere a cost whose hashes could not be verified again', () => {
    const costs = [
      { memory: 256 * 1024 + 1 },
      { passes: 11 },
      { parallelism: 17 },
      { passes: 0 },
      { memory: 7 },
      { memory: 15, parallelism: 2 },
      { memory: Number.NaN },
    ]
    for (const cost of costs) {
      expect(() => assertCost(cost, 'test')).to.throw(StartupError, /out of range/)
      expect(() => createPasswords({ cost })).to.throw(StartupError, /out of range/)
    }
  })
})
