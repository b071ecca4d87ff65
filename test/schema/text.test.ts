import { expect } from 'chai'
import type { Schema } from '../../src/schema/schema.ts'
import { compileOutput } from '../../src/schema/compile-output.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import { FAIL } from '../../src/schema/yup/fast-node.ts'
import { compileText } from '../../src/schema/yup/fast-text.ts'
import { jsonString } from '../../src/support/json-string.ts'
import type { YupNode } from '../../src/compat/yup.ts'
import { Random } from './support/random.ts'
import { outgoingFor, outgoingSchema } from './support/random-outgoing.ts'
import { casesOf, seedFor } from '../support/seed.ts'

const CASES = casesOf(10_000)
const VALUES_PER_SCHEMA = 10

/** The text from the slow path; undefined if the value is rejected. */
function textOfSlowPath(schema: Schema, value: unknown): string | undefined {
  const result = compileOutput(schema)(value)
  return result instanceof Invalid ? undefined : JSON.stringify(result)
}

describe('Text that a compiled schema writes', function () {
  this.timeout(180_000 + CASES * 10)

  it('equals JSON.stringify of the filtered value', () => {
    let written = 0
    const first = seedFor('schema text')
    for (let seed = first; seed < first + CASES / VALUES_PER_SCHEMA; seed++) {
      const random = new Random(seed)
      const schema = outgoingSchema(random)
      const node = compileText(schema)
      if (node === undefined) continue
      for (let index = 0; index < VALUES_PER_SCHEMA; index++) {
        const value = outgoingFor(schema as unknown as YupNode, random)
        const text = node.write(value)
        if (text === FAIL) continue
        written++
        expect(text, `seed ${seed}, value ${index}`).to.equal(textOfSlowPath(schema as Schema, value))
      }
    }
    expect(written, 'values that the fast path took').to.be.above(CASES / 8)
  })
})

describe('jsonString', () => {
  it('returns the result of JSON.stringify for every unit of UTF-16, in short and long strings', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const character = String.fromCharCode(unit)
      for (const text of [character, `${'l'.repeat(60)}${character}`])
        if (jsonString(text) !== JSON.stringify(text)) expect.fail(`unit ${unit} in ${text.length} units`)
    }
  })

  it('returns the result of JSON.stringify for pairs, and for strings of every length', () => {
    for (const text of ['\ud83d\ude00', 'a\ud83d\ude00b', '\ude00\ud83d', '', '"', 'a\\'])
      for (const padding of [0, 39, 40, 41, 4_999, 5_000, 5_001]) {
        const padded = text + 'p'.repeat(padding)
        expect(jsonString(padded)).to.equal(JSON.stringify(padded))
      }
  })
})
