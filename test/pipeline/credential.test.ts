import { expect } from 'chai'
import { findCredential } from '../../src/context/credential.ts'
import { leastTime } from '../support/least-time.ts'

const tokenOf = (authorization: string): string | undefined =>
  credentialOf({ authorization, cookie: 'session=from-the-cookie' })?.token

function credentialOf(headers: Record<string, string>) {
  return findCredential({ url: '/', path: '/', rawHeaders: headers, rawQuery: {} }, ['session'])
}

describe('the credential of a request', () => {
  const forms: Record<string, string> = {
    'Bearer abc': 'abc',
    'bearer abc': 'abc',
    'BEARER   abc  ': 'abc',
    'Bearer a b': 'a b',
    'Bearer \tabc': '\tabc',
    'Bearer abc\t': 'abc\t',
    'Bearer \u00A0abc': '\u00A0abc',
    'Bearer ,': ',',
    Bearer: 'from-the-cookie',
    'Bearer   ': 'from-the-cookie',
    Bearerabc: 'from-the-cookie',
    ' Bearer abc': 'from-the-cookie',
    'Basic abc': 'from-the-cookie',
    'Basic Bearer abc': 'from-the-cookie',
  }
  for (const [authorization, token] of Object.entries(forms))
    it(`of ${JSON.stringify(authorization)} is ${JSON.stringify(token)}`, () => {
      expect(tokenOf(authorization)).to.equal(token)
    })

  it('is read in a time that grows with its length alone', () => {
    const plain = `Bearer ${'x'.repeat(15_000)}`
    const spaced = `Bearer x${' '.repeat(15_000)}y`
    const timeOf = (authorization: string): number => leastTime(() => tokenOf(authorization), 200)
    expect(timeOf(spaced)).to.be.below(20 * timeOf(plain))
  })
})
