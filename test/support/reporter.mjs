import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import Mocha from 'mocha'

const { Base, Spec } = Mocha.reporters
const { EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } = Mocha.Runner.constants

/**
 * Mocha's `spec` output, then what was skipped and why, then the one line that a machine reads:
 * `N passed, N failed`, with `, N skipped` when some were.
 */
export default class ClosingLine extends Spec {
  /** Number of skipped tests by suite or single test, and its reason. */
  #skipped = new Map()
  /** By file: its numbers of passed and skipped tests, and the titles of those that failed. */
  #files = new Map()

  constructor(runner, options) {
    super(runner, options)
    runner.on(EVENT_TEST_PASS, (test) => (this.#resultsOf(test).passed += 1))
    runner.on(EVENT_TEST_FAIL, (test) => this.#resultsOf(test).failed.push(test.fullTitle()))
    runner.on(EVENT_TEST_PENDING, (test) => {
      this.#resultsOf(test).skipped += 1
      const line = describeSkip(test)
      this.#skipped.set(line, (this.#skipped.get(line) ?? 0) + 1)
    })
  }

  /** A failure that belongs to no file gets an empty name. */
  #resultsOf({ file }) {
    const name = file ? relative(process.cwd(), file) : ''
    if (!this.#files.has(name)) this.#files.set(name, { passed: 0, skipped: 0, failed: [] })
    return this.#files.get(name)
  }

  epilogue() {
    super.epilogue()
    for (const [line, count] of this.#skipped) Base.consoleLog('  skipped %d: %s', count, line)
    Base.consoleLog('  seed of the random tests: TEST_SEED=%s', process.env.TEST_SEED)
    Base.consoleLog('%s', closingLine(this.stats))
    if (process.env.TEST_FAILED_FILES) writeFileSync(process.env.TEST_FAILED_FILES, this.#failedFiles())
  }

  /** For `.ci/run`, a line for each file with a failure: passed and skipped tests, name, and titles of the failed. */
  #failedFiles() {
    const files = [...this.#files].filter(([, { failed }]) => failed.length > 0)
    const lines = files.map(([name, { passed, skipped, failed }]) =>
      [passed, skipped, name || 'no file', failed.join(' | ').replace(/\s+/g, ' ')].join('\t'),
    )
    return lines.map((line) => `${line}\n`).join('')
  }
}

/** The suite that `skipSuite` marked, with its reason, or the test itself. */
function describeSkip(test) {
  const marked = /^(.*?) \[skipped: (.*?)\]/.exec(test.fullTitle())
  return marked ? `${marked[1]} (${marked[2]})` : `${test.fullTitle()} (marked as skipped in the file)`
}

function closingLine({ passes, failures, pending }) {
  return `${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`
}
