import { expect } from 'chai'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import { casesOf, seedFor } from '../support/seed.ts'
import { Random } from './support/random.ts'
import { randomSameSchema } from './support/same-schema.ts'

const TEXTS = ['0', '1', '2', '2.5', '-1', 'x', 'true', 'false', '1e3', '0x1']

function randomQuery(random: Random): Record<string, string | string[]> {
  const text = () => random.pick(TEXTS)
  const value = () => (random.chance(0.25) ? [text(), text()] : text())
  return Object.fromEntries(['a', 'b'].filter(() => random.chance(0.85)).map((name) => [name, value()]))
}

const isValid = (result: unknown) => !(result instanceof Invalid)

type Result = readonly [library: string, result: unknown]

function compare([[, expected], ...others]: readonly [Result, ...Result[]], about: string): boolean {
  const isAccepted = isValid(expected)
  for (const [library, result] of others) {
    expect(isValid(result), `${library} ${about}`).to.equal(isAccepted)
    if (isAccepted) expect(result, `${library} ${about}`).to.deep.equal(expected)
  }
  return isAccepted
}

describe('The text of a query', () => {
  it('means the same to schemas of all libraries', () => {
    const random = new Random(seedFor('the same schema in each library'))
    let accepted = 0
    const cases = casesOf(2000)
    for (let index = 0; index < cases; index++) {
      const { description, schemas } = randomSameSchema(random)
      const validators = Object.entries(schemas).map(
        ([library, schema]) => [library, compileValidator(schema, 'query')] as const,
      )
      for (let times = 0; times < 5; times++) {
        const query = randomQuery(random)
        const results = validators.map(([library, { validate }]): Result => [library, validate(query)])
        if (compare(results as [Result], `${description} ${JSON.stringify(query)}`)) accepted += 1
      }
    }
    expect(accepted).to.be.above(cases / 4)
  })
})
