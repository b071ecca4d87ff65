import { expect } from 'chai'
import { satisfies } from '../../src/peers/satisfies.ts'

const CASES: readonly (readonly [version: string, range: string, expected: boolean])[] = [
  ['1.2.3', '^1.2.3', true],
  ['1.10.0', '^1.2.3', true],
  ['1.2.2', '^1.2.3', false],
  ['2.0.0', '^1.2.3', false],
  ['0.45.9', '^0.45.1', true],
  ['0.46.0', '^0.45.1', false],
  ['0.0.4', '^0.0.3', false],
  ['7.1.0', '^6.0.0 || ^7.0.0', true],
  ['8.0.0', '^6.0.0 || ^7.0.0', false],
  ['9.0.0', '>=8.1', true],
  ['8.0.9', '>=8.1', false],
  ['1.2.3', '1.2.3', true],
  ['1.2.4', '1.2.3', false],
  ['2.0.0-beta.1', '^2.0.0', true],
  ['5.0.0', '*', true],
  ['5.0.0', '1.x - 2.x', true],
]

describe('satisfies', () => {
  for (const [version, range, expected] of CASES)
    it(`${expected ? 'accepts' : 'rejects'} ${version} for ${range}`, () => {
      expect(satisfies(version, range)).to.equal(expected)
    })
})
