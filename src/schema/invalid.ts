import type { IssueParam } from '../errors/http-error.ts'

/** The rule that a value breaks, with the constants that its schema declares: `min`, `{ min: 1 }`. */
export interface BrokenRule {
  readonly rule: string
  readonly params?: Readonly<Record<string, IssueParam>>
}

/** One fault of a value: the path inside it (`items[0].qty`, `''` for the value itself), the rule and the reason. */
export interface SchemaIssue extends BrokenRule {
  readonly path: string
  readonly message: string
}

/** Maximum length of a path and of a message. Both can quote the value, whose size the caller controls. */
const LONGEST_TEXT = 1_000

/** Result of a validator for an invalid value: at least one issue, up to the given limit. */
export class Invalid {
  readonly issues: readonly SchemaIssue[]

  constructor(issues: readonly SchemaIssue[]) {
    this.issues = issues
  }
}

/**
 * Lists the paths of issues with their rules, for the message of an error: no message of a schema is in it, because those
 * may quote the value.
 */
export function brokenRules({ issues }: Invalid): string {
  return issues.map(({ path, rule }) => `${path || 'the data itself'} (${rule})`).join(', ')
}

/** Makes an issue; `message` may be any value that a schema library was given as a message. */
export function issueAt(path: string, { rule, params }: BrokenRule, message: unknown): SchemaIssue {
  const at = shortened(path)
  const text = shortened(typeof message === 'string' ? message : textOf(message))
  return params === undefined ? { path: at, rule, message: text } : { path: at, rule, params, message: text }
}

/** Path of a member: `childPath('items', 0)` is `items[0]`, `childPath('', 'a.b')` is `["a.b"]`. The form is yup's. */
export function childPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`
  if (key.includes('.')) return `${parent}["${key}"]`
  return parent === '' ? key : `${parent}.${key}`
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text
}

function textOf(message: unknown): string {
  try {
    return JSON.stringify(message) ?? String(message)
  } catch {
    return 'is not valid'
  }
}
