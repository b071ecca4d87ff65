import { expect } from 'chai'
import {
  distinctWords,
  isMostlyWords,
  wordsOfUser,
} from '../../../../plugins/auth/passwords/weak-passwords/own-words.ts'
import { isPattern } from '../../../../plugins/auth/passwords/weak-passwords/password-pattern.ts'

describe('The words of a user', () => {
  it('are the parts of name and address, and no top-level domain', () => {
    expect(wordsOfUser({ name: 'Grace Brewster', email: 'navy.hopper@mail.example.museum' })).to.have.members(
      [
        'navy.hopper@mail.example.museum',
        'navy.hopper',
        'navy',
        'hopper',
        'mail.example.museum',
        'mail',
        'example',
        'gracebrewster',
        'grace',
        'brewster',
      ],
    )
  })

  it('are folded, distinct, of at least four characters, and the longest comes first', () => {
    expect(distinctWords(['abc', 'Abcd', 'abcd', 'ａｂｃｄｅ', 'a b c d e f'])).to.deep.equal([
      'abcdef',
      'abcde',
      'abcd',
    ])
  })
})

describe('A password', () => {
  for (const [password, words, expected] of [
    ['hopper42', ['hopper'], true],
    ['abcdefgh', ['abcd'], false],
    ['abcdefg', ['abcd'], true],
    ['abcd-abcd-efg', ['abcd'], true],
    ['hopper hopper x', ['hopper'], true],
    ['grace of the sea', ['grace'], false],
    ['gracehopper1', ['gracehopper', 'grace'], true],
  ] as const)
    it(`${expected ? 'is' : 'is not'} mostly ${words.join(' or ')}: ${password}`, () => {
      expect(isMostlyWords(password, words)).to.equal(expected)
    })

  for (const [password, expected] of [
    ['aaaaaaaa', true],
    ['xkqmxkqm', true],
    ['xkqmzxkqmz', false],
    ['xkqm', false],
    ['', false],
    ['abcdefgh', true],
    ['hgfedcba', true],
    ['qweasdzxc', true],
    ['aaabbbccc', true],
    ['abklxymn', false],
    ['567890', true],
    ['azertyuiop', true],
    ['qwertzuiop', true],
    ['abc12345x', false],
  ] as const)
    it(`${expected ? 'is' : 'is not'} a pattern: '${password}'`, () => {
      expect(isPattern(password)).to.equal(expected)
    })
})
