import { expect } from 'chai'
import { checkPassword } from '../../../../plugins/auth/passwords/passwords.ts'
import { normalizePassword } from '../../../../plugins/auth/passwords/password-rule.ts'

const GOOD: Record<string, string> = {
  '8 characters': '12345678',
  '256 characters': 'x'.repeat(256),
  '15 times the same': 'a'.repeat(15),
  '8 emoji, each two UTF-16 units': '😀'.repeat(8),
  '256 emoji, which are 1,024 bytes': '😀'.repeat(256),
  'spaces alone': ' '.repeat(8),
  'a NUL inside': 'abc\0defgh',
  'a line break': 'abcd\nefgh',
  '256 characters that are 512 before NFC': 'e\u0301'.repeat(256),
}

const BAD: Record<string, readonly [string, RegExp]> = {
  'an empty one': ['', /at least 8/],
  '7 characters': ['1234567', /at least 8/],
  '7 emoji, which are 14 units': ['😀'.repeat(7), /at least 8/],
  '7 characters that are 14 before NFC': ['e\u0301'.repeat(7), /at least 8/],
  '257 characters': ['x'.repeat(257), /at most 256/],
  '257 emoji': ['😀'.repeat(257), /at most 256/],
  'a megabyte': ['x'.repeat(1_000_000), /at most 256/],
  'a megabyte of combining marks': ['e' + '\u0301'.repeat(1_000_000), /at most 256/],
  'a lone high surrogate': ['abcdefgh\ud800', /not valid Unicode/],
  'a lone low surrogate': ['abcdefgh\udc00', /not valid Unicode/],
  'surrogates in the wrong order': ['abcdefgh\udc00\ud800', /not valid Unicode/],
}

describe('checkPassword', () => {
  for (const [name, password] of Object.entries(GOOD))
    it(`accepts ${name}`, () => {
      expect(checkPassword(password)).to.equal(undefined)
    })

  for (const [name, [password, message]] of Object.entries(BAD))
    it(`refuses ${name}`, () => {
      expect(checkPassword(password)).to.match(message)
    })

  it('never says the password', () => {
    for (const password of ['canary', `canary${'x'.repeat(300)}`, 'canary\ud800!!'])
      expect(checkPassword(password)).to.be.a('string').and.not.include('canary')
  })
})

describe('normalizePassword', () => {
  it('makes the composed and the decomposed form equal', () => {
    expect(normalizePassword('cafe\u0301 passw')).to.equal(normalizePassword('caf\u00e9 passw'))
  })

  it('changes nothing else: no trimming, no case, no compatibility forms', () => {
    for (const password of [' Passw0rd ', 'PASSWORD', 'ﬁﬁﬁﬁﬁﬁﬁﬁ', '１２３４５６７８', 'a\u200bbcdefgh'])
      expect(normalizePassword(password)).to.equal(password)
  })

  it('refuses two lone surrogates, which would be one and the same password', () => {
    expect(normalizePassword('secret \ud800')).to.equal(null)
    expect(normalizePassword('secret \ud801')).to.equal(null)
  })
})
