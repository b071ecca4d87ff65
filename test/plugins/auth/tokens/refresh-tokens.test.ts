import { expect } from 'chai'
import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { deriveKeys, type Secret } from '../../../../plugins/auth/tokens/keys.ts'
import {
  createRefreshTokens,
  type IssuedRefreshToken,
} from '../../../../plugins/auth/tokens/refresh-tokens.ts'
import { createResetTokens } from '../../../../plugins/auth/tokens/single-use-tokens.ts'

const OLD = 'the old secret of the application, 32+ bytes'
const NEW = 'the new secret of the application, 32+ bytes'
const SESSION = { id: '0196a5b0-0000-7000-8000-000000000001' }
const OTHER_SESSION = { id: '0196a5b0-0000-7000-8000-000000000002' }

const tokensOf = (secret: Secret = OLD) => createRefreshTokens({ keys: deriveKeys(secret) })
const rowOf = ({ hash }: IssuedRefreshToken, session = SESSION) => ({ ...session, tokenHash: hash })

/** A chain of so many tokens, the first one issued. */
function chain(length: number, secret: Secret = OLD): IssuedRefreshToken[] {
  const tokens = tokensOf(secret)
  const all: IssuedRefreshToken[] = [tokens.issue()]
  while (all.length < length) all.push(tokens.successor(all.at(-1)!.token, SESSION))
  return all
}

describe('refresh tokens', () => {
  it('are not made without a key', () => {
    expect(() => createRefreshTokens({ keys: { refresh: [] } })).to.throw(TypeError, 'at least one key')
  })

  it('hold 128 bits of family and 256 bits of secret, in characters that a cookie may hold', () => {
    const { token } = tokensOf().issue()
    const [family, secret] = token.split('.').map((part) => Buffer.from(part, 'base64url'))
    expect(family).to.have.lengthOf(16)
    expect(secret).to.have.lengthOf(32)
    expect(token).to.match(/^[A-Za-z0-9_.-]+$/)
  })

  it('are never issued twice', () => {
    const tokens = tokensOf()
    const issued = new Set<string>()
    for (let each = 0; each < 20_000; each += 1)
      for (const part of tokens.issue().token.split('.')) issued.add(part)
    expect(issued.size).to.equal(40_000)
  })

  it('are stored as a SHA-256 hash in hex that says nothing of the token', () => {
    const tokens = tokensOf()
    const { token, hash, familyHash } = tokens.issue()
    expect(hash).to.match(/^[0-9a-f]{64}$/)
    expect(familyHash).to.match(/^[0-9a-f]{64}$/)
    expect(hash).to.not.equal(familyHash)
    expect(tokens.hashes(token)).to.deep.equal({ hash, familyHash })
    expect(createHash('sha256').update(token).digest('hex'), 'the purpose is part of it').to.not.equal(hash)
    expect(createResetTokens().hash(token)).to.equal(null)
  })

  it('keep their family from generation to generation and change everything else', () => {
    const tokens = tokensOf()
    const all = chain(200)
    const families = new Set(all.map(({ token }) => tokens.hashes(token)!.familyHash))
    expect(families.size).to.equal(1)
    expect(new Set(all.map(({ token }) => token)).size).to.equal(200)
    expect(new Set(all.map(({ hash }) => hash)).size).to.equal(200)
  })

  it('have one and the same successor, however often and wherever it is computed', () => {
    const [first] = chain(1)
    const successors = Array.from({ length: 64 }, () => tokensOf().successor(first!.token, SESSION).token)
    expect(new Set(successors).size).to.equal(1)
    expect(tokensOf().hashes(successors[0]!)?.hash).to.equal(tokensOf().successor(first!.token, SESSION).hash)
  })

  it('have another successor under another secret and in another session', () => {
    const [first] = chain(1)
    const successors = [
      tokensOf(OLD).successor(first!.token, SESSION),
      tokensOf(NEW).successor(first!.token, SESSION),
      tokensOf(OLD).successor(first!.token, OTHER_SESSION),
    ]
    expect(new Set(successors.map(({ token }) => token)).size).to.equal(3)
  })

  it('are recovered from the immediate predecessor alone', () => {
    const tokens = tokensOf()
    const all = chain(5)
    const row = rowOf(all[3]!)
    expect(all.map(({ token }) => tokens.recover(token, row)?.token ?? null)).to.deep.equal([
      null,
      null,
      all[3]!.token,
      null,
      null,
    ])
    expect(tokens.recover(all[2]!.token, rowOf(all[3]!, OTHER_SESSION))).to.equal(null)
    expect(tokens.recover(tokens.issue().token, row)).to.equal(null)
  })

  it('are recovered while the secret changes, whichever process made them', () => {
    const [first, byOld] = chain(2, OLD)
    const changing = tokensOf([NEW, OLD])
    expect(changing.recover(first!.token, rowOf(byOld!))?.token).to.equal(byOld!.token)
    const byNew = changing.successor(first!.token, SESSION)
    expect(byNew.token).to.equal(tokensOf(NEW).successor(first!.token, SESSION).token)
    expect(changing.recover(first!.token, rowOf(byNew))?.token).to.equal(byNew.token)
    expect(tokensOf(NEW).recover(first!.token, rowOf(byOld!)), 'the old secret is gone').to.equal(null)
  })

  it('cannot be continued from what the database holds, even with the secret', () => {
    const [first, second] = chain(2)
    const stored = [first!.hash, second!.hash, tokensOf().hashes(first!.token)!.familyHash, SESSION.id]
    for (const value of stored) expect(() => tokensOf().successor(value, SESSION)).to.throw(TypeError)
  })

  it('never repeat in a chain and never meet another chain', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }), (one, two) => {
        const hashes = [...chain(one), ...chain(two)].map(({ hash }) => hash)
        return new Set(hashes).size === one + two
      }),
      { numRuns: 100 },
    )
  })

  const [{ token }] = chain(1) as [IssuedRefreshToken]
  const MALFORMED: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    'a number': 7,
    'a list': [token],
    'an object that looks like one': { length: token.length, toString: () => token },
    'an empty string': '',
    'a token cut short': token.slice(0, -1),
    'a token with a character more': `${token}A`,
    'a token without its dot': token.replace('.', ''),
    'a token with a dot elsewhere': `.${token.replace('.', '')}`,
    'a token with padding': `${token.slice(0, -1)}=`,
    'a token in plain base64': `${token.slice(0, -2)}+${token.at(-1)!}`,
    'a token whose last bits are set': token.slice(0, -1) + 'B',
    'a family whose last bits are set': `${token.slice(0, 21)}B${token.slice(22)}`,
    'a token in quotes': `"${token}"`,
    'a token with a line break': `${token}\n`,
    'a token with a NUL': `\0${token.slice(1)}`,
    'a megabyte': 'A'.repeat(1_000_000),
    'a reset token': createResetTokens().issue().token,
  }
  for (const [name, value] of Object.entries(MALFORMED))
    it(`are not made of ${name}`, () => {
      expect(tokensOf().hashes(value)).to.equal(null)
    })

  it('that were changed in any place have another hash or none', () => {
    const tokens = tokensOf()
    const { token: genuine, hash } = tokens.issue()
    fc.assert(
      fc.property(fc.nat(genuine.length - 1), fc.string({ minLength: 1, maxLength: 2 }), (at, text) => {
        const changed = genuine.slice(0, at) + text + genuine.slice(at + text.length)
        return changed === genuine || tokens.hashes(changed)?.hash !== hash
      }),
      { numRuns: 5000 },
    )
  })
})
