import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import {
  CLAIM_ATTACKS,
  FORM_ATTACKS,
  GENUINE,
  HEADER_ATTACKS,
  NOW,
  PAYLOAD_JSON,
  raw,
  tokens,
  withClaims,
  withHeader,
} from './jwt-attacks.ts'

describe('access tokens under attack', () => {
  it('accept the genuine token, so that the table below proves something', () => {
    expect(tokens.verify(GENUINE)).to.deep.include({ sub: 'ada', sid: 'session' })
    expect(tokens.verify(withClaims({}))).to.deep.include({ sub: 'ada' })
    expect(tokens.verify(withHeader({}))).to.deep.include({ sub: 'ada' })
    expect(tokens.verify(withClaims({ jti: randomUUID(), nbf: NOW }))).to.deep.include({ sub: 'ada' })
  })

  const attacks = { ...HEADER_ATTACKS, ...FORM_ATTACKS, ...CLAIM_ATTACKS }
  for (const [name, token] of Object.entries(attacks))
    it(`refuse ${name}`, () => {
      expect(tokens.verify(token)).to.equal(null)
      expect(tokens.verify(token), 'again').to.equal(null)
    })

  for (const value of [
    undefined,
    null,
    0,
    true,
    {},
    [],
    [GENUINE],
    { toString: () => GENUINE },
    Buffer.from(GENUINE),
  ])
    it(`refuse a value that is not a string: ${typeof value} ${Array.isArray(value) ? 'list' : ''}`, () => {
      expect(tokens.verify(value)).to.equal(null)
    })

  it('never pollute a prototype', () => {
    const token = raw(JSON.stringify(PAYLOAD_JSON).replace('"user":{', '"user":{"__proto__":{"admin":true},'))
    const user = tokens.verify(token)?.user
    expect(user).to.be.an('object')
    expect(user?.admin).to.equal(undefined)
    expect(({} as { admin?: unknown }).admin).to.equal(undefined)
  })

  it('take the last of a claim that is given twice, as signed', () => {
    const token = raw(JSON.stringify(PAYLOAD_JSON).replace('"sub"', '"sub":"eve","sub"'))
    expect(tokens.verify(token)).to.have.property('sub', 'ada')
  })
})
