import Mocha from 'mocha'

const { Spec } = Mocha.reporters
const { EVENT_TEST_PENDING } = Mocha.Runner.constants

/**
 * Mocha's `spec` output, then the reason of every skipped test, then the one line that a machine reads:
 * `N passed, N failed`, with `, N skipped` when some were.
 */
export default class ClosingLine extends Spec {
  #skipped = []

  constructor(runner, options) {
    super(runner, options)
    runner.on(EVENT_TEST_PENDING, (test) => this.#skipped.push(test))
  }

  epilogue() {
    super.epilogue()
    for (const test of this.#skipped) Mocha.reporters.Base.consoleLog('  skipped: %s', describeSkip(test))
    Mocha.reporters.Base.consoleLog('%s', closingLine(this.stats))
  }
}

function describeSkip(test) {
  return `${test.fullTitle()} (${reasonOf(test.parent) ?? 'marked as skipped in the file'})`
}

/** The reason that `serverUrl` left on the suite or on one around it. */
function reasonOf(suite) {
  return suite && (suite.skipReason ?? reasonOf(suite.parent))
}

function closingLine({ passes, failures, pending }) {
  return `${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`
}
