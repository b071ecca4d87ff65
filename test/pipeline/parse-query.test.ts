import { parse } from 'node:querystring'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { parseQuery } from '../../src/support/parse-query.ts'
import { casesOf, seedFor } from '../support/seed.ts'

const asPlain = (query: object) => Object.entries(query)
const read = (text: string) => parseQuery(text, 1000)!

describe('A query', () => {
  const cases = [
    '',
    'a=1',
    'a',
    'a=',
    '=a',
    '=',
    '&&a=1&&b=2&',
    'a=1&a=2&a=3',
    'a=b=c',
    'a%20b=c%26d',
    'a+b=c+d',
    'a=%zz&%=1&%e9=%E9',
    '__proto__=1&constructor=2&__proto__=3',
    'toString&hasOwnProperty=x',
    'ключ=значение',
    'é=%20',
    '%C3%A9=%E6%9D%B1+%F0%9F%99%82&%F0%9F%99%82=%C3%A9&a=%E6%9D%B1&b',
    'a=%F0%9F%99&b=%20',
    'a=%ED%A0%80&b=%20',
    'a=%C0%80&b=%20',
    'a=%20&b=%4',
    'a=%20&b=%',
    'a=%41&%4',
    '%20&&=%20&==%20=&%20=&&%20',
    `a=%20${'x'.repeat(4091)}`,
    `a=%20${'x'.repeat(4092)}&b=%20`,
    `a=${'+'.repeat(2000)}`,
    `ключ=${'%20+é'.repeat(1000)}+&${'+'.repeat(1000)}`,
    Array.from({ length: 1000 }, (_, index) => `k${index}=v`).join('&'),
  ]
  for (const text of cases)
    it(`is read as node:querystring reads it: ${text.slice(0, 40)}`, () => {
      expect(asPlain(read(text))).to.deep.equal(asPlain(parse(text)))
    })

  // Request targets are ASCII. The result of node:querystring for other text with broken escapes does not matter.
  it('is read as node:querystring reads it, for random text', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '=',
      '&',
      '+',
      '%',
      '%20',
      '%C3%A9',
      '%E6%9D%B1',
      '%F0%9F%99%82',
      '%F0%9F',
      '%4',
      '%ff',
      '__proto__',
      '1',
      ';',
      '?',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const text = pieces.join('')
        expect(asPlain(read(text))).to.deep.equal(asPlain(parse(text)))
      }),
      { numRuns: casesOf(20_000), seed: seedFor('parse-query') },
    )
  })

  it('is undefined beyond the maximum of pairs; empty pairs do not count', () => {
    expect(parseQuery('a=1&b=2', 2)).to.deep.equal({ a: '1', b: '2' })
    expect(parseQuery('&a=1&&b=2&', 2)).to.deep.equal({ a: '1', b: '2' })
    expect(parseQuery('a=1&b=2&c', 2)).to.equal(undefined)
    expect(parseQuery('a&a&a', 2)).to.equal(undefined)
    expect(parseQuery('', 0)).to.deep.equal({})
    expect(parseQuery('%61=1&b=2&', 2)).to.deep.equal({ a: '1', b: '2' })
    expect(parseQuery('%61=1&b=2&c', 2)).to.equal(undefined)
  })

  it('inherits nothing', () => {
    const query = read('a=1')
    expect('constructor' in query).to.equal(false)
    expect('__proto__' in query).to.equal(false)
  })
})
