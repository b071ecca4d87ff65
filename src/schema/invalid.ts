/** One fault of a value: the path inside it (`items[0].qty`, `''` for the value itself) and the reason. */
export interface SchemaIssue {
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

/** Makes an issue; `message` may be any value that a schema library was given as a message. */
export function issueAt(path: string, message: unknown): SchemaIssue {
  return {
    path: shortened(path),
    message: shortened(typeof message === 'string' ? message : textOf(message)),
  }
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
