import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { generate } from '../../src/schema/yup/generate.ts'

/** True in the run that the second test starts. */
const REFUSED = process.env.TEST_SCHEMA_WITHOUT_CODE === 'true'
const SUITES = ['differential', 'text', 'output', 'generated-code']

describe('Generated code', () => {
  it(REFUSED ? 'is not made where Node refuses to' : 'gets values by reference, never as text', () => {
    const hostile = "'); throw new Error('run') //"
    const made = generate<() => unknown>((refer) => `() => ${refer(hostile)}`)
    expect(made?.()).to.equal(REFUSED ? undefined : hostile)
  })

  if (!REFUSED)
    it('has a fallback that passes the same tests if Node forbids code generation', () => {
      const files = SUITES.map((suite) => `test/schema/${suite}.test.ts`)
      const args = ['node_modules/mocha/bin/mocha.js', ...files]
      const env = {
        PATH: process.env.PATH,
        NODE_OPTIONS: '--disallow-code-generation-from-strings',
        TEST_CASES: '0.25',
        TEST_SCHEMA_WITHOUT_CODE: 'true',
      }
      const run = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 170_000 })
      expect(run.stdout).to.match(/is not made where Node refuses to/)
      expect(run.status, run.stdout).to.equal(0)
    })
})
