/** The functions of a test runner (mocha, vitest, node:test …) that a contract suite is written in. */
export interface SuiteRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
}
