import { expect } from 'chai'
import {
  base32,
  codeAt,
  otpauthUri,
  randomSecret,
  stepAt,
  stepOf,
} from '../../../../../plugins/auth/features/totp/one-time-code.ts'

const SECRET = base32(Buffer.from('12345678901234567890'))

describe('one-time codes', () => {
  // The table of RFC 6238, appendix B, for SHA-1, and its codes without the first two of eight digits.
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const)
    it(`are those of RFC 6238 at ${seconds} s`, () => {
      expect(codeAt(SECRET, stepAt(seconds * 1000))).to.equal(code.slice(2))
    })

  // RFC 4226, appendix D.
  it('are those of RFC 4226 for the first ten steps', () => {
    const codes = Array.from({ length: 10 }, (_, step) => codeAt(SECRET, step))
    expect(codes.join(' ')).to.equal('755224 287082 359152 969429 338314 254676 287922 162583 399871 520489')
  })

  it('are accepted one step before and after, and not two', () => {
    const now = 1_000_000_000_000
    const offsets = [-2, -1, 0, 1, 2].filter(
      (offset) => stepOf(SECRET, codeAt(SECRET, stepAt(now) + offset), now) === stepAt(now) + offset,
    )
    expect(offsets).to.deep.equal([-1, 0, 1])
    for (const wrong of ['', '0', '0000000', 'äöüäöü', codeAt(SECRET, 1).slice(1)])
      expect(stepOf(SECRET, wrong, now)).to.equal(undefined)
  })

  it('have random secrets of 160 bits', () => {
    const secrets = Array.from({ length: 100 }, randomSecret)
    expect(new Set(secrets).size).to.equal(100)
    for (const secret of secrets) expect(secret).to.match(/^[A-Z2-7]{32}$/)
  })

  it('have an address that cannot be read in two ways', () => {
    const uri = new URL(otpauthUri(SECRET, 'A&B ?', 'a+b&c@example.com'))
    expect(uri.searchParams.get('issuer')).to.equal('A&B ?')
    expect(decodeURIComponent(uri.pathname.split('/').at(-1)!)).to.equal('A&B ?:a+b&c@example.com')
    expect([...uri.searchParams.keys()]).to.deep.equal(['secret', 'issuer', 'algorithm', 'digits', 'period'])
  })
})

describe('base32', () => {
  // RFC 4648 §10; other lengths need padding.
  it('is that of RFC 4648', () => {
    expect(base32(Buffer.from('fooba'))).to.equal('MZXW6YTB')
  })
})
