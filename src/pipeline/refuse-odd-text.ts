import { childPath, Invalid, issueAt, type SchemaIssue } from '../schema/invalid.ts'

/** U+0000, and half of a surrogate pair. In a pattern with the flag `u`, whole pairs do not match. */
const ODD = /[\0\p{Surrogate}]/u

/** The escapes of both in JSON, those of whole pairs included. */
const ODD_ESCAPE = /\\u(?:0000|d[89a-f])/i

/** True if strings of a JSON document may contain odd characters. JSON has them only as escapes. */
export function mayHaveOddEscapes(json: string): boolean {
  return json.includes('\\u') && ODD_ESCAPE.test(json)
}

/** Deeper values are left to the schema, which refuses them. */
const DEEPEST = 100

/**
 * Returns the issues of strings and keys with U+0000 or half of a surrogate pair, or undefined. PostgreSQL cannot store
 * the first, and every database changes the second silently, so that two different strings may become equal.
 */
export function refuseOddText(value: unknown, limit: number): Invalid | undefined {
  const issues: SchemaIssue[] = []
  collect(value, '', { issues, limit, depth: DEEPEST })
  return issues.length === 0 ? undefined : new Invalid(issues)
}

interface Search {
  readonly issues: SchemaIssue[]
  readonly limit: number
  readonly depth: number
}

function collect(value: unknown, path: string, search: Search): void {
  if (search.issues.length >= search.limit) return
  if (typeof value === 'string') note(value, path, 'must not contain', search)
  // An uploaded file is an object of a class; its names were checked with the form.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || 'toJSON' in value) return
  if (search.depth > 0) collectMembers(value, path, { ...search, depth: search.depth - 1 })
}

function collectMembers(value: object, path: string, search: Search): void {
  if (Array.isArray(value))
    for (let index = 0; index < value.length; index++) collect(value[index], childPath(path, index), search)
  else
    for (const [key, member] of Object.entries(value))
      if (!note(key, path, 'must not have a key that contains', search))
        collect(member, childPath(path, key), search)
}

/** Adds an issue if the string has an odd character. @returns true for such a string. */
function note(text: string, path: string, phrase: string, { issues, limit }: Search): boolean {
  const odd = ODD.exec(text)
  if (odd === null) return false
  const name = odd[0] === '\0' ? 'the character U+0000' : 'half of a surrogate pair'
  if (issues.length < limit)
    issues.push(issueAt(path, { rule: 'characters' }, `${path || 'this'} ${phrase} ${name}`))
  return true
}
