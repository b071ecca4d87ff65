import { expect } from 'chai'
import { errors, type CryptoKey, type JWSHeaderParameters, type LocalJWKSet } from 'jose'
import { createPublishedKeys } from '../../../../plugins/auth-hosted/published-keys.ts'

describe('The published keys of a hosted provider', () => {
  it('are not fetched again by a request whose look-up ends after another one has fetched them', async () => {
    const key = {} as CryptoKey
    let release: () => void = () => undefined
    const waits = [
      new Promise<void>((resolve) => {
        release = resolve
      }),
    ]
    const old = async ({ kid }: JWSHeaderParameters) => {
      if (kid === 'old') return key
      await waits.shift()
      throw new errors.JWKSNoMatchingKey()
    }
    let loads = 0
    const keys = createPublishedKeys({
      load: async () => (loads++ === 0 ? old : async () => key) as unknown as LocalJWKSet,
      clock: { now: () => 0 },
      timeout: 1000,
      lifetime: 60_000,
      coolDown: 0,
    })
    const find = (kid: string) => keys.find({ alg: 'RS256', kid }, {} as never)
    expect(await find('old')).to.equal(key)
    const late = find('new')
    expect(await find('new')).to.equal(key)
    release()
    expect(await late).to.equal(key)
    expect(loads).to.equal(2)
  })
})
