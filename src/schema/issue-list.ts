import type { SchemaIssue } from './invalid.ts'

/** Default limit of issues: the number that a response lists, plus one. */
export const DEFAULT_LIMIT = 21

/** The issues of one value, up to a limit. A validator stops as soon as `isFull`, so a hostile body costs little. */
export class IssueList {
  readonly found: SchemaIssue[] = []
  /** True when an array had more items than its schema allows; they were not validated. */
  hasLongArray = false
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.found.length >= this.#limit
  }

  add(issue: SchemaIssue): void {
    if (!this.isFull) this.found.push(issue)
  }
}
