import { expect } from 'chai'
import { deriveKeys } from '../../../../plugins/auth/tokens/keys.ts'
import { hashToken } from '../../../../plugins/auth/tokens/opaque-token.ts'
import { createRefreshTokens } from '../../../../plugins/auth/tokens/refresh-tokens.ts'
import { createResetTokens } from '../../../../plugins/auth/tokens/single-use-tokens.ts'

describe('reset tokens', () => {
  const tokens = createResetTokens()

  it('contain 256 bits and need no escaping in a URL', () => {
    const { token } = tokens.issue()
    expect(Buffer.from(token, 'base64url')).to.have.lengthOf(32)
    expect(encodeURIComponent(token)).to.equal(token)
  })

  it('are never issued twice', () => {
    const issued = new Set(Array.from({ length: 20_000 }, () => tokens.issue().token))
    expect(issued.size).to.equal(20_000)
  })

  it('are found by their hash, in any process', () => {
    const { token, hash } = tokens.issue()
    expect(hash).to.match(/^[0-9a-f]{64}$/)
    expect(createResetTokens().hash(token)).to.equal(hash)
  })

  it('have a hash of their own purpose', () => {
    const { token, hash } = tokens.issue()
    for (const purpose of ['refresh-token', 'refresh-family', ''])
      expect(hashToken(purpose, token)).to.not.equal(hash)
    expect(createRefreshTokens({ keys: deriveKeys('x'.repeat(32)) }).hashes(token)).to.equal(null)
  })

  it('are not made of anything else', () => {
    const { token } = tokens.issue()
    const others = [
      undefined,
      null,
      7,
      '',
      [token],
      { toString: () => token },
      token.slice(1),
      `${token}A`,
      `${token}\n`,
      ` ${token}`,
      `${token.slice(0, -1)}=`,
      `${token.slice(0, -1)}B`,
      'A'.repeat(1_000_000),
    ]
    for (const other of others) expect(tokens.hash(other)).to.equal(null)
  })
})
