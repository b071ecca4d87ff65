/** The functions of a test runner (mocha, vitest, node:test …) that a contract suite uses. */
export interface SuiteRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
}

interface Skippable {
  skip?(): unknown
}

/**
 * Reports the running test as skipped: mocha has `this.skip()`; vitest and node:test have `skip` on the first argument.
 */
export function skipTest(self: unknown, context: unknown): void {
  const test = [context, self].find(
    (candidate) => typeof (candidate as Skippable | null | undefined)?.skip === 'function',
  )
  ;(test as Skippable | undefined)?.skip!()
}
