import { expect } from 'chai'
import * as fc from 'fast-check'
import { canonicalEmail } from '../../../../plugins/auth/accounts/canonical-email.ts'

const SAME: Record<string, readonly [string, string]> = {
  'a plain address': ['ada@example.com', 'ada@example.com'],
  capitals: ['Ada.Lovelace@Example.COM', 'ada.lovelace@example.com'],
  'space around it': [' \t\u00a0ada@example.com\u3000\n', 'ada@example.com'],
  'a decomposed letter': ['jose\u0301@example.com', 'jos\u00e9@example.com'],
  'a decomposed capital': ['JOSE\u0301@example.com', 'jos\u00e9@example.com'],
  'a capital that composes with its mark in lower case only': [
    'H\u0331ed@example.com',
    '\u1e96ed@example.com',
  ],
  'the Kelvin sign': ['\u212aelvin@example.com', 'kelvin@example.com'],
  'a tag': ['ada+notes@example.com', 'ada+notes@example.com'],
  'all that RFC 5322 lets stand unquoted': [
    "a!#$%&'*+/=?^_`{|}~-9@example.com",
    "a!#$%&'*+/=?^_`{|}~-9@example.com",
  ],
  'a domain in another script': ['ada@bücher.example', 'ada@bücher.example'],
  'the same domain in its ASCII form': ['ada@xn--bcher-kva.example', 'ada@bücher.example'],
  'the same domain in capitals': ['ada@XN--BCHER-KVA.example', 'ada@bücher.example'],
  'a domain in full-width letters': ['ada@ｅｘａｍｐｌｅ.com', 'ada@example.com'],
  'a name in another script': ['用户@例子.广告', '用户@例子.广告'],
  'the shortest': ['a@b.c', 'a@b.c'],
  '64 characters before the @': [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  '254 characters': [longest(254), longest(254)],
  'more space around it than an address is long': [`${' '.repeat(400)}a@b.example`, 'a@b.example'],
}

function longest(length: number): string {
  const label = 'd'.repeat(60)
  const rest = `@${label}.${label}.${label}.example`
  return 'a'.repeat(length - rest.length) + rest
}

const NONE: Record<string, unknown> = {
  nothing: undefined,
  null: null,
  'a number': 7,
  'an object of a NoSQL query': { $gt: '' },
  'a list': ['ada@example.com'],
  'an object with toString': { toString: () => 'ada@example.com' },
  'an empty string': '',
  'space alone': '   ',
  'no @': 'ada.example.com',
  'an @ alone': '@',
  'no name': '@example.com',
  'no domain': 'ada@',
  'two @': 'ada@evil.example@example.com',
  'a quoted @': '"ada@evil.example"@example.com',
  'a full-width @ as well': 'ada＠evil.example@',
  'a full-width @ alone': 'ada＠example.com',
  'a space inside': 'ada lovelace@example.com',
  'a no-break space inside': 'ada\u00a0l@example.com',
  'a tab inside': 'ada\tl@example.com',
  'a header in the name': 'ada\r\nBcc: eve@example.com',
  'a header behind': 'ada@example.com\r\nBcc: x',
  'a line break of Unicode inside': 'ada\u2028l@example.com',
  'a NUL inside': 'ada\0@example.com',
  'a NUL in the domain': 'ada@example\0.com',
  'a zero-width space': 'a\u200bda@example.com',
  'a zero-width joiner': 'a\u200dda@example.com',
  'a soft hyphen in the domain': 'ada@ex\u00adample.com',
  'a change of direction': 'ada\u202e@example.com',
  'a Hangul filler, which has no shape': 'a\u3164da@example.com',
  'a Hangul choseong filler': 'a\u115fda@example.com',
  'a combining grapheme joiner': 'a\u034fda@example.com',
  'a variation selector': 'ada\ufe0f@example.com',
  'a variation selector of the supplement': 'ada\u{e0100}@example.com',
  'a domain whose Unicode form is not of letters': 'ada@xn--ls8h.example',
  'so much space that it is not read': `${' '.repeat(2000)}a@b.example`,
  '254 characters or less, but more bytes': `a@${Array.from({ length: 3 }, () => 'é'.repeat(50)).join('.')}.example`,
  'a lone surrogate': 'ada\ud800@example.com',
  'two addresses by comma': 'ada,eve@example.com',
  'two addresses by semicolon': 'ada;eve@example.com',
  'a display name': 'Ada <ada@example.com>',
  'angle brackets': '<ada@example.com>',
  'a comment': 'ada(x)@example.com',
  'a source route': '@evil.example:ada@example.com',
  'a backslash': 'ada\\@example.com',
  quotes: '"ada"@example.com',
  'a dot in front': '.ada@example.com',
  'a dot before the @': 'ada.@example.com',
  'two dots': 'ada..l@example.com',
  'a domain of one label': 'ada@localhost',
  'a dot in front of the domain': 'ada@.example.com',
  'a dot behind the domain': 'ada@example.com.',
  'two dots in the domain': 'ada@example..com',
  'a hyphen in front of a label': 'ada@-example.com',
  'a hyphen behind a label': 'ada@example-.com',
  'an underscore in the domain': 'ada@ex_ample.com',
  'a path behind the domain': 'ada@example.com/evil.example',
  'a port': 'ada@example.com:25',
  'a percent escape in the domain': 'ada@ex%61mple.com',
  'an address literal': 'ada@[127.0.0.1]',
  'an IP address': 'ada@127.0.0.1',
  'an IP address in hex': 'ada@0x7f.1',
  'an IP address in one number': 'ada@2130706433',
  'a broken ASCII form': 'ada@xn--a.example',
  'a label of 64': `ada@${'d'.repeat(64)}.example`,
  '65 characters before the @': `${'a'.repeat(65)}@example.com`,
  '33 letters of two bytes before the @': `${'é'.repeat(33)}@example.com`,
  '255 characters': longest(255),
  'a megabyte': `${'a'.repeat(1_000_000)}@example.com`,
  'a megabyte of @': '@'.repeat(1_000_000),
  'a megabyte of dots': `a@${'.'.repeat(1_000_000)}`,
}

describe('canonicalEmail', () => {
  for (const [name, [input, canonical]] of Object.entries(SAME))
    it(`gives one form for ${name}`, () => {
      expect(canonicalEmail(input)).to.equal(canonical)
    })

  for (const [name, input] of Object.entries(NONE))
    it(`refuses ${name}`, () => {
      expect(canonicalEmail(input)).to.equal(null)
    })

  // Letters that grow, shrink or change with case, normalisation and IDNA, and all that means something in an address.
  const tricky = fc.constantFrom(
    ...'aAzZ09.@-+_ \t\n\0"<>(),;:\\/%[]İıſKßẞΣςﬁＡH\u0331＠．。éÉ\u0301\u00ad\u200b\u200d\u202e\ud800\udc00😀',
    'xn--',
  )
  const address = fc.oneof(
    { weight: 2, arbitrary: fc.emailAddress() },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.string({ unit: 'binary', maxLength: 12 }), fc.domain())
        .map((parts) => parts.join('@')),
    },
    { weight: 3, arbitrary: fc.array(tricky, { maxLength: 30 }).map((parts) => parts.join('')) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.array(tricky, { maxLength: 9 }), fc.array(tricky, { maxLength: 9 }))
        .map(([a, b]) => `x${a.join('')}@y${b.join('')}.com`),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  )

  it('holds its invariants for any input', () => {
    let accepted = 0
    fc.assert(
      fc.property(address, (input) => {
        const email = canonicalEmail(input)
        if (email === null) return
        accepted += 1
        expect(canonicalEmail(email), 'idempotent').to.equal(email)
        expect(email, 'NFC').to.equal(email.normalize('NFC'))
        expect(email, 'lower case').to.equal(email.toLowerCase())
        expect(email.split('@'), 'one @').to.have.lengthOf(2)
        expect(email, 'nothing unseen').to.not.match(/[\p{Cc}\p{Cf}\p{Cs}\p{Z}"(),:;<>[\]\\]/u)
        expect(Buffer.byteLength(email)).to.be.at.most(254)
        expect(Buffer.byteLength(email.split('@')[0]!)).to.be.within(1, 64)
      }),
      { numRuns: 20_000 },
    )
    expect(accepted, 'the property is not empty').to.be.greaterThan(2000)
  })

  it('is the same for every way of writing an address', () => {
    const writings = [
      (email: string) => email.toUpperCase().toLowerCase(),
      (email: string) => ` ${email}\n`,
      (email: string) => email.normalize('NFD'),
      (email: string) => `\u00a0${email.normalize('NFD')}`,
    ]
    fc.assert(
      fc.property(address, fc.constantFrom(...writings), (input, write) => {
        const email = canonicalEmail(input)
        // Case folding is not an identity for every letter ('ß' becomes 'ss'): then it is another address.
        if (email === null || email.toUpperCase().toLowerCase() !== email) return
        expect(canonicalEmail(write(email))).to.equal(email)
      }),
      { numRuns: 5000 },
    )
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        const email = canonicalEmail(input)
        return email === null || typeof input === 'string'
      }),
      { numRuns: 5000 },
    )
  })
})
