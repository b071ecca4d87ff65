/** One thing wrong with a value: where inside it (`items[0].qty`, `''` for the value itself) and why. */
export interface SchemaIssue {
  readonly path: string
  readonly message: string
}

/** Longest message that is kept; a message can quote the value, which a caller may have made as large as he likes. */
const LONGEST_MESSAGE = 1_000

/** What a validator returns instead of a typed value: every issue, at least one. */
export class Invalid {
  readonly issues: readonly SchemaIssue[]

  constructor(issues: readonly SchemaIssue[]) {
    this.issues = issues
  }
}

/** Makes an issue; `message` may be any value that a schema library was given as a message. */
export function issueAt(path: string, message: unknown): SchemaIssue {
  const text = typeof message === 'string' ? message : textOf(message)
  return { path, message: text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE - 1)}…` : text }
}

/** Path of a member: `childPath('items', 0)` is `items[0]`, `childPath('', 'a.b')` is `["a.b"]`. The form is yup's. */
export function childPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`
  if (key.includes('.')) return `${parent}["${key}"]`
  return parent === '' ? key : `${parent}.${key}`
}

function textOf(message: unknown): string {
  try {
    return JSON.stringify(message) ?? String(message)
  } catch {
    return 'is not valid'
  }
}
