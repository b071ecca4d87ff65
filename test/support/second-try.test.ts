import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(import.meta.dirname, '../..')

/** A file with three tests, of which one passes, one is skipped, and one may fail. */
const testOf = (name: string, fails: 'once' | 'always' | 'never'): string => `
const { existsSync, writeFileSync } = require('node:fs')
it('${name} rests', () => {})
it.skip('${name} waits', () => {})
it('${name} moves', () => {
  const first = !existsSync(__filename + '.ran')
  writeFileSync(__filename + '.ran', '')
  if (${fails === 'always'} || (${fails === 'once'} && first)) throw new Error('it moved')
})
`

describe('The second try of .ci/run', function () {
  // Each test starts Mocha several times.
  this.timeout(180_000)
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-second-try-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** Runs test files as .ci/run does. @returns its numbers, and the tests that passed at the second try only. */
  function run(files: Readonly<Record<string, 'once' | 'always' | 'never'>>): readonly string[] {
    for (const [name, fails] of Object.entries(files))
      writeFileSync(join(folder, `${name}.cjs`), testOf(name, fails))
    mkdirSync(join(folder, 'logs'))
    const mocha = `${process.execPath} ${ROOT}/node_modules/mocha/bin/mocha.js --no-config --reporter ${ROOT}/test/support/reporter.mjs`
    const script = `
      set -uo pipefail
      LOGS=${folder}/logs passed=0 failed=0 skipped=() flaky=()
      step() { shift 2; "$@" </dev/null; }
      source ${ROOT}/.ci/tests.sh
      run_tests 60 tests ${mocha} --parallel --jobs 2 ${Object.keys(files)
        .map((name) => `${name}.cjs`)
        .join(' ')}
      echo '--- totals'
      printf '%s\\n' "$passed passed, $failed failed" "\${skipped[@]}" "\${flaky[@]}"`
    const { stdout } = spawnSync('bash', ['-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    })
    const [numbers, skipped, ...flaky] = stdout.split('--- totals\n')[1]!.trimEnd().split('\n')
    return [numbers!, skipped!, ...flaky.toSorted()]
  }

  it('names the tests that pass then, and counts each test once', () => {
    expect(run({ a: 'never', b: 'once', c: 'once' })).to.deep.equal([
      '6 passed, 0 failed',
      '3 of the tests, named in their report',
      'b.cjs: b moves',
      'c.cjs: c moves',
    ])
  })

  it('changes nothing when a file fails again', () => {
    expect(run({ a: 'once', b: 'always' })).to.deep.equal([
      '2 passed, 2 failed',
      '2 of the tests, named in their report',
    ])
  })

  it('is not given to more than three files', () => {
    expect(run({ a: 'once', b: 'once', c: 'once', d: 'once' })).to.deep.equal([
      '4 passed, 4 failed',
      '4 of the tests, named in their report',
    ])
  })
})
