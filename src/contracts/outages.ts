/** A failure that may be one of many with the same cause, such as a database that is away. */
export interface OutageFailure {
  /** A few words for a line about several failures, such as `check db` or `jobs`. One of few values. */
  readonly part: string
  readonly error: unknown
  /** Message of the first failure. The reason follows it. */
  readonly message: string
  /** Further fields of that line. */
  readonly fields?: object
  /** `warn` by default. */
  readonly level?: 'warn' | 'error'
}

/**
 * The log lines of failures of other servers and of disks. A database that is away fails checks, requests and background
 * work together: one cause writes at most three lines a minute.
 */
export interface Outages {
  /** Logs a failure if it is the first one of its cause; further ones are counted in one line a minute. */
  log(failure: OutageFailure): void
  /** The same for a failure that lasts until `end`. Does nothing while the part fails already. */
  begin(failure: OutageFailure): void
  /** The part works again. One line follows when no other part of the same cause fails. */
  end(part: string): void
}
