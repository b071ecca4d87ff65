import { expect } from 'chai'
import { StartupError } from 'mortar'
import { checkSecret, deriveKeys, type Secret } from '../../../../plugins/auth/tokens/keys.ts'

const LONG = 'correct horse battery staple and a half'
const OTHER = 'another secret that is long enough for it'
const SHORT = 'canary-short-secret'

const bytesOf = (secret: Secret): string[] => {
  const { access, refresh, limits } = deriveKeys(secret)
  return [...access.map((key) => key.export().toString('hex')), ...refresh.map(hex), hex(limits)]
}
const hex = (buffer: Buffer): string => buffer.toString('hex')

describe('auth keys', () => {
  it('are the same for the same secret and differ by purpose and by secret', () => {
    expect(bytesOf(LONG)).to.deep.equal(bytesOf(LONG))
    expect(new Set([...bytesOf(LONG), ...bytesOf(OTHER)])).to.have.property('size', 6)
  })

  it('are 256 bits each', () => {
    for (const key of bytesOf(LONG)) expect(key).to.have.lengthOf(64)
  })

  it('keep the order of a list, so that the first signs', () => {
    const keys = deriveKeys([OTHER, LONG])
    expect(keys.access).to.have.lengthOf(2)
    expect(hex(keys.refresh[0]!)).to.equal(hex(deriveKeys(OTHER).refresh[0]!))
    expect(hex(keys.refresh[1]!)).to.equal(hex(deriveKeys(LONG).refresh[0]!))
    expect(hex(keys.limits)).to.equal(hex(deriveKeys(OTHER).limits))
  })

  it('are made once for a secret that a list names twice', () => {
    expect(deriveKeys([LONG, LONG]).access).to.have.lengthOf(1)
  })

  for (const missing of [undefined, null, '', '   ', [], [''], [LONG, ''], 42, [42]])
    it(`are refused for ${JSON.stringify(missing) ?? 'undefined'}`, () => {
      for (const environment of ['development', 'test', 'production'] as const)
        expect(() => checkSecret(missing as Secret, environment))
          .to.throw(StartupError, /AUTH_SECRET is missing or empty[^]*node -e[^]*randomBytes/)
          .with.property('code', 'MORTAR_AUTH_SECRET')
      expect(() => deriveKeys(missing as Secret)).to.throw(StartupError, /AUTH_SECRET/)
    })
})

describe('a list of secrets', () => {
  it('may have one entry, which is the secret', () => {
    expect(bytesOf([LONG])).to.deep.equal(bytesOf(LONG))
    expect(checkSecret([OTHER], 'production')).to.deep.equal({})
  })

  it('names an empty entry, and an empty list', () => {
    expect(() => deriveKeys([LONG, ' '])).to.throw(StartupError, 'entry 2 of the list')
    expect(() => deriveKeys([])).to.throw(StartupError, 'the list has no entry')
  })
})

describe('checkSecret', () => {
  const RANDOM = 'Zk3vQ9xL0pWm7RtY5uBn2cHd8fGj1aSe'

  it('accepts 32 random bytes everywhere', () => {
    for (const environment of ['development', 'test', 'production'] as const)
      for (const secret of [RANDOM, '9f86d081884c7d659a2feaa0c55ad015', 'éàüöÄßçñõêîôæøåÿ'])
        expect(checkSecret(secret, environment)).to.deep.equal({})
  })

  const WEAK: Record<string, string> = {
    'of one character': 'a'.repeat(32),
    'of nine characters': 'abcdxyzwq'.repeat(8),
    'that is a placeholder': 'change-me-change-me-change-me-change-me',
    'that begins with a placeholder': `changeme-${RANDOM}`,
    'that names what it is': 'my-super-secret-key-for-signing-tokens',
    'of a sequence': '0123456789abcdefghijklmnopqrstuvwxyz',
    'that repeats one piece': 'k3vQ9xL0pWm7'.repeat(3),
  }
  for (const [what, secret] of Object.entries(WEAK))
    it(`refuses one ${what} in production and warns elsewhere, without showing it`, () => {
      for (const given of [secret, [RANDOM, secret]]) {
        expect(() => checkSecret(given, 'production'))
          .to.throw(StartupError, /^AUTH_SECRET /)
          .and.satisfy((error: StartupError) => !error.message.includes(secret))
        const { warning } = checkSecret(given, 'development')
        expect(warning).to.be.a('string').and.not.include(secret)
      }
    })

  it('warns of a short one outside production, without showing it', () => {
    for (const environment of ['development', 'test'] as const) {
      const { warning } = checkSecret(SHORT, environment)
      expect(warning)
        .to.match(/AUTH_SECRET is shorter than 32 bytes/)
        .and.not.include('canary')
    }
  })

  it('refuses a short one in production, without showing it', () => {
    for (const secret of [SHORT, [LONG, SHORT], 'x'.repeat(31)])
      expect(() => checkSecret(secret, 'production'))
        .to.throw(StartupError, /AUTH_SECRET is shorter/)
        .and.satisfy(
          (error: StartupError) => !error.message.includes('canary') && !error.message.includes('xxx'),
        )
  })
})
