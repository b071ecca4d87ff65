import Mocha from 'mocha'

const { Base, Spec } = Mocha.reporters
const { EVENT_TEST_PENDING } = Mocha.Runner.constants

/**
 * Mocha's `spec` output, then what was skipped and why, then the one line that a machine reads:
 * `N passed, N failed`, with `, N skipped` when some were.
 */
export default class ClosingLine extends Spec {
  /** Number of skipped tests by suite or single test, and its reason. */
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
    Base.consoleLog('  seed of the random tests: TEST_SEED=%s', process.env.TEST_SEED)
    Base.consoleLog('%s', closingLine(this.stats))
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
