import { expect } from 'chai'
import { deriveKeys } from '../../../../plugins/auth/tokens/keys.ts'
import { createVault } from '../../../../plugins/auth/tokens/vault.ts'

const [OLD, NEW] = [
  'the old secret of the application, long enough',
  'the new secret of the application, long enough',
]
const vaultOf = (...secrets: string[]) => createVault(deriveKeys(secrets).seal)

describe('The vault', () => {
  it('opens what it has sealed, which is another text each time', () => {
    const vault = vaultOf(OLD)
    const one = vault.seal('totp', 'ada', 'a seed')
    const other = vault.seal('totp', 'ada', 'a seed')
    expect(one.sealed).to.not.equal(other.sealed)
    expect(Buffer.from(one.sealed, 'base64url').toString('latin1')).to.not.include('a seed')
    expect(vault.open('totp', 'ada', one)).to.equal('a seed')
  })

  it('opens nothing for another owner or purpose, or that was changed', () => {
    const vault = vaultOf(OLD)
    const { sealed, keyId } = vault.seal('totp', 'ada', 'a seed')
    expect(vault.open('totp', 'eve', { sealed, keyId })).to.equal(null)
    expect(vault.open('other', 'ada', { sealed, keyId })).to.equal(null)
    expect(vault.open('tot', 'pada', { sealed, keyId })).to.equal(null)
    const bytes = Buffer.from(sealed, 'base64url')
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes)
      changed[index]! ^= 1
      expect(vault.open('totp', 'ada', { sealed: changed.toString('base64url'), keyId })).to.equal(null)
    }
    for (let length = 0; length < bytes.length; length++)
      expect(
        vault.open('totp', 'ada', { sealed: bytes.subarray(0, length).toString('base64url'), keyId }),
      ).to.equal(null)
  })

  it('opens with any secret of the list, and seals with the first', () => {
    const old = vaultOf(OLD).seal('totp', 'ada', 'a seed')
    const both = vaultOf(NEW, OLD)
    expect(both.open('totp', 'ada', old)).to.equal('a seed')
    const { keyId } = both.seal('totp', 'ada', 'a seed')
    expect(keyId).to.equal(both.keyIds[0]).and.not.equal(old.keyId)
    expect(vaultOf(NEW).open('totp', 'ada', old)).to.equal(null)
    expect(vaultOf(NEW).open('totp', 'ada', { ...old, keyId })).to.equal(null)
  })
})
