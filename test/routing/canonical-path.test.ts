import { expect } from 'chai'
import { canonicalOrRawPath, canonicalPath, canonicalSegment } from '../../src/routing/canonical-path.ts'

describe('the canonical form of a path', () => {
  const forms: Record<string, string> = {
    '/%61dmin': '/admin',
    '/%2f': '/%2F',
    '/%3f': '/%3F',
    '/%23': '/%23',
    '/%25': '/%25',
    '/%7b%7D': '/%7B%7D',
    '/caf%c3%a9': '/caf%C3%A9',
    '/%3a%2A': '/:*',
  }
  for (const [path, canonical] of Object.entries(forms))
    it(`of ${path} is ${canonical}`, () => {
      expect(canonicalPath(path)).to.equal(canonical)
      expect(canonicalOrRawPath(path)).to.equal(canonical)
    })

  it('keeps a malformed path unchanged where it must not fail', () => {
    for (const path of ['/%61dmin/%zz', '/%61%c3', '/%', '/%61%2']) {
      expect(canonicalOrRawPath(path)).to.equal(path)
      expect(() => canonicalPath(path)).to.throw('malformed')
    }
    expect(canonicalSegment('%zz')).to.equal(null)
  })
})
