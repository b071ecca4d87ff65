/** Variables that name a running server which some suites need. `.ci/run` sets them for reachable servers. */
export type ServerVariable = 'TEST_POSTGRES_URL' | 'TEST_MARIADB_URL' | 'TEST_REDIS_URL'

interface SkippableSuite {
  readonly root: boolean
  readonly tests: unknown[]
  pending: boolean
  title: string
}

/**
 * The URL of a running server. Call it first in the body of a `describe`: where the variable is not set, the whole
 * suite is skipped, hooks included, and the report gives the reason.
 *
 * @returns the URL, or an empty string that nothing will use because the suite is skipped.
 */
export function serverUrl(variable: ServerVariable): string {
  const url = process.env[variable]
  if (url) return url
  skipSuite(`${variable} is not set`)
  return ''
}

/**
 * Skips the suite whose body is being read, with a reason for the report. Hooks declared after it never run. The reason
 * joins the title, the one property of a suite that a parallel run hands to the reporter.
 */
export function skipSuite(reason: string): void {
  const suite = currentSuite()
  if (suite.root) throw new Error('Call this inside a describe(), else every test would be skipped.')
  suite.pending = true
  suite.title += ` [skipped: ${reason}]`
}

/** Mocha names the suite being read only through the tests declared in it, so one is declared and taken out. */
function currentSuite(): SkippableSuite {
  const suite = it('finds the suite').parent as unknown as SkippableSuite
  suite.tests.pop()
  return suite
}
