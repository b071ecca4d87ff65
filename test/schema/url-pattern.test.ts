import { expect } from 'chai'
import * as fc from 'fast-check'
import * as yup from 'yup'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import { linearUrlPattern } from '../../src/compat/yup-url.ts'
import { leastTime } from '../support/least-time.ts'
import { casesOf, seedFor } from '../support/seed.ts'

/** Returns the pattern of `string().url()`: one object that all schemas of this copy of yup share. */
function urlPattern(): RegExp {
  const test = yup.string().url().tests.at(-1) as unknown as { OPTIONS: { params: { regex: RegExp } } }
  return test.OPTIONS.params.regex
}

const original = urlPattern()
const linear = linearUrlPattern(original)!

const CASES = casesOf(20_000)

const PIECES = [
  ...'aZ10-._~é\u212A:/@?#% \0\n\uE000',
  '..',
  '//',
  '%41',
  'http:',
  'ftp:',
  '255',
  '256',
  '1.2.3.4',
  'a.b',
  'example.com',
]

/** Text on which yup's own pattern takes twice as long with each further `0.`. */
const slow = (length: number): string => `//a.${'0.'.repeat(length)}\0`

describe('the pattern of string().url()', () => {
  it('accepts the same strings as the pattern of yup', () => {
    const pieces = fc.constantFrom(...PIECES)
    const start = fc.constantFrom('', '//', 'http://', 'HTTPS://', 'ftp://', 'x://')
    let taken = 0
    fc.assert(
      fc.property(start, fc.array(pieces, { maxLength: 9 }), (scheme, rest) => {
        const text = scheme + rest.join('')
        const expected = original.test(text)
        if (expected) taken += 1
        return linear.test(text) === expected
      }),
      { numRuns: CASES, seed: seedFor('url pattern') },
    )
    expect(taken).to.be.above(CASES / 200)
  })

  const schemas: Record<string, yup.Schema> = {
    compiled: yup.object({ link: yup.string().url().required() }),
    'asked of yup': yup.object({
      link: yup
        .string()
        .url()
        .test('own', () => true),
    }),
  }
  for (const [name, schema] of Object.entries(schemas))
    it(`takes linear time, ${name}`, () => {
      const { validate } = compileValidator(schema, 'body')
      const timeOf = (link: string): number =>
        leastTime(() => {
          const result = validate({ link })
          expect(result instanceof Invalid && result.issues[0]?.path).to.equal('link')
        })
      expect(timeOf(slow(24)) / timeOf(slow(12))).to.be.below(50)
      expect(validate({ link: 'https://user@example.com:8080/a/b?c#d' })).to.deep.include({
        link: 'https://user@example.com:8080/a/b?c#d',
      })
    })

  it('is not replaced if it is another pattern', () => {
    expect(linearUrlPattern(/^https:/)).to.equal(undefined)
  })

  it('is unchanged in yup itself', () => {
    expect(urlPattern()).to.equal(original)
    expect(Object.hasOwn(original, 'exec')).to.equal(false)
    expect(Object.hasOwn(original, 'test')).to.equal(false)
    expect(original.test(slow(8))).to.equal(false)
  })
})
