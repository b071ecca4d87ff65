import { expect } from 'chai'
import * as fc from 'fast-check'
import { isCost, parseStoredHash } from '../../../../plugins/auth/passwords/phc-string.ts'
import { GENUINE, HOSTILE } from './hostile-hashes.ts'

describe('parseStoredHash', () => {
  it('reads variant, version, cost and lengths', () => {
    expect(parseStoredHash(GENUINE)).to.deep.equal({
      variant: 'argon2id',
      version: 19,
      cost: { memory: 19_456, passes: 2, parallelism: 1 },
      saltLength: 16,
      hashLength: 32,
    })
  })

  it('reads the parameters in the order of node-argon2 too', () => {
    const stored = GENUINE.replace('m=19456,t=2,p=1', 'm=19456,p=1,t=2')
    expect(parseStoredHash(stored)).to.deep.equal(parseStoredHash(GENUINE))
  })

  it('takes a string without a version for the first version', () => {
    expect(parseStoredHash(GENUINE.replace('$v=19', ''))).to.have.property('version', 16)
  })

  for (const [name, stored] of Object.entries(HOSTILE))
    it(`refuses ${name}`, () => {
      expect(parseStoredHash(stored)).to.equal(null)
    })

  it('never throws, and whatever it accepts is within the ceilings', () => {
    const number = fc.oneof(fc.nat(20), fc.nat(), fc.constantFrom('', '-1', '1e9', '９'))
    const text = fc.oneof(
      fc.string(),
      fc
        .tuple(
          fc.constantFrom('argon2id', 'argon2i', 'argon2d', 'x'),
          number,
          number,
          number,
          number,
          fc.base64String(),
          fc.base64String(),
        )
        .map(([id, v, m, t, p, salt, hash]) => `$${id}$v=${v}$m=${m},t=${t},p=${p}$${salt}$${hash}`),
    )
    fc.assert(
      fc.property(text, (stored) => {
        const parsed = parseStoredHash(stored)
        return parsed === null || (isCost(parsed.cost) && parsed.hashLength >= 16)
      }),
      { numRuns: 5000 },
    )
  })
})
