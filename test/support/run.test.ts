import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(import.meta.dirname, '../..')

/** The environment of a shell with the variables of an application. */
const SHELL = {
  PATH: process.env.PATH,
  NODE_ENV: 'production',
  PORT: '1',
  DATABASE_URL: 'postgres://db/shop',
  AUTH_SECRET: 'secret of the shell',
  PGHOST: 'db.example.com',
  TZ: 'America/St_Johns',
  TEST_REDIS_URL: 'redis://127.0.0.1:1',
}

/** Runs Mocha as `npm test` does, on these files. */
function runMocha(
  files: readonly string[],
  options: readonly string[],
): { status: number | null; output: string } {
  const args = ['node_modules/mocha/bin/mocha.js', ...files, '--no-color', ...options]
  const run = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', env: SHELL, timeout: 170_000 })
  return { status: run.status, output: run.stdout }
}

for (const [name, options] of [
  ['The test run', []],
  ['The parallel test run', ['--parallel', '--jobs', '2']],
] as const)
  describe(name, function () {
    let status: number | null
    let output: string

    before(() => {
      const files = ['faulty-run', 'run-of-environment'].map((file) => `test/support/planted/${file}.ts`)
      ;({ status, output } = runMocha(files, options))
    })

    it('prints the seed of its random tests', () => {
      expect(output).to.match(/TEST_SEED=\d+/)
    })

    it('ends with a line of the totals', () => {
      expect(output.trimEnd().split('\n').at(-1)).to.equal('5 passed, 1 failed, 1 skipped')
    })

    it('fails when a test failed', () => {
      expect(status).to.equal(1)
    })

    it('names the resources that a test left open', () => {
      expect(output).to.match(
        /1 TCPServerWrap \(server on port \d+, open since "a run with faults leaves a server open"\)/,
      )
    })

    it('names the test with an unhandled rejection', () => {
      expect(output).to.include(
        'Rejected without a handler in or after "a run with faults rejects without a handler"',
      )
    })

    it('gives the reason of a skipped suite and runs none of its hooks', () => {
      expect(output).to.include(
        'skipped 1: a run with faults a suite without its server (NO_SERVER is not set)',
      )
      expect(output).not.to.include('a hook of a skipped suite ran')
    })

    it('hides the variables of an application from the tests', () => {
      expect(output).to.match(/✔ sees no variable of an application/)
      expect(output).to.match(/✔ sees the time zone and the servers of the run/)
    })
  })
