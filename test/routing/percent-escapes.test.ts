import { expect } from 'chai'
import * as fc from 'fast-check'
import { canonicalOrRawPath, canonicalPath } from '../../src/routing/canonical-path.ts'
import { decodeEscapes } from '../../src/support/percent-escapes.ts'
import { casesOf, seedFor } from '../support/seed.ts'

function orUndefined<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

const byPlatform = (text: string) => orUndefined(() => decodeURIComponent(text))

/** The canonical form by the rules of RFC 3986 §6.2.2, one escape at a time. */
function canonicalByPlatform(path: string): string | undefined {
  if (byPlatform(path) === undefined) return undefined
  return path.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /^[!"$&-.0-9:->@-z|~]$/.test(character) ? character : escape.toUpperCase()
  })
}

const hex = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`
const cases = (edges: readonly number[]) =>
  fc.oneof(
    fc.constantFrom(
      'a',
      'Z',
      '/',
      '..',
      '+',
      '%',
      '%2',
      '%zz',
      'é',
      'ÿ',
      '\u0141',
      '😀',
      '%2F',
      '%2f',
      '%2e',
      '%25',
    ),
    fc.constantFrom(...edges).map(hex),
    fc.nat(255).map((byte) => hex(byte).toUpperCase()),
    fc
      .array(fc.nat(0x10ffff), { minLength: 1, maxLength: 2 })
      .map((points) => orUndefined(() => encodeURIComponent(String.fromCodePoint(...points))) ?? 'x'),
  )
/** Bytes at which the rules of UTF-8 change. */
const EDGES = [
  0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4,
  0xf5, 0xff,
]

describe('Percent-escapes', () => {
  const text = fc.array(cases(EDGES), { maxLength: 10 }).map((pieces) => pieces.join(''))

  it('are decoded as decodeURIComponent decodes them', () => {
    let decoded = 0
    fc.assert(
      fc.property(text, (given) => {
        const expected = byPlatform(given)
        if (expected !== undefined && expected !== given) decoded += 1
        expect(decodeEscapes(given)).to.equal(expected)
      }),
      { numRuns: casesOf(20_000), seed: seedFor('percent-escapes') },
    )
    expect(decoded).to.be.above(casesOf(1000))
  })

  it('are decoded as decodeURIComponent decodes them for each first and second byte', () => {
    const bytes = Array.from({ length: 256 }, (_, byte) => hex(byte))
    const pairs = bytes.flatMap((first) => bytes.map((second) => first + second))
    const all = pairs.flatMap((pair) => [pair, `${pair}%80`, `${pair}%80%80`])
    const wrong = all.filter((given) => decodeEscapes(given) !== byPlatform(given))
    expect(wrong).to.deep.equal([])
  })

  it('of a path are resolved where they are printable, and a malformed one fails the whole path', () => {
    fc.assert(
      fc.property(text, (given) => {
        const expected = canonicalByPlatform(given)
        expect(orUndefined(() => canonicalPath(given))).to.equal(expected)
        expect(canonicalOrRawPath(given)).to.equal(expected ?? given)
      }),
      { numRuns: casesOf(20_000), seed: seedFor('canonical path') },
    )
  })
})
