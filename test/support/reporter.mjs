import Mocha from 'mocha'

const { Base, Spec } = Mocha.reporters
const { EVENT_TEST_PENDING } = Mocha.Runner.constants

/**
 * Mocha's `spec` output, then what was skipped and why, then the one line that a machine reads:
 * `N passed, N failed`, with `, N skipped` when some were.
 */
export default class ClosingLine extends Spec {
  /** Number of skipped tests by what was skipped, a suite or a single test, and its reason. */
  #skipped = new Map()

  constructor(runner, options) {
    super(runner, options)
    runner.on(EVENT_TEST_PENDING, (test) => {
      const line = describeSkip(test)
      this.#skipped.set(line, (this.#skipped.get(line) ?? 0) + 1)
    })
  }

  epilogue() {
    super.epilogue()
    for (const [line, count] of this.#skipped) Base.consoleLog('  skipped %d: %s', count, line)
    Base.consoleLog('%s', closingLine(this.stats))
  }
}

function describeSkip(test) {
  const suite = skippedSuite(test.parent)
  return suite
    ? `${suite.fullTitle()} (${suite.skipReason})`
    : `${test.fullTitle()} (marked as skipped in the file)`
}

/** The suite around a test on which `serverUrl` left a reason. */
function skippedSuite(suite) {
  return suite && (suite.skipReason ? suite : skippedSuite(suite.parent))
}

function closingLine({ passes, failures, pending }) {
  return `${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`
}
