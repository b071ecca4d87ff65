import { redactText } from './redact-text.ts'

/** Text of a thrown value whose own members throw. */
const UNREADABLE = 'An error that cannot be read was thrown.'

/** The line of a `StartupError` with its remedy. The framework writes it, with an example where one helps. */
const REMEDY = /(^ *Remedy: .*$)/m

/**
 * Returns the text of a thrown value without recognisable secrets: the message of an error, or its stack. The remedies of
 * a `StartupError` stay as they are. Never throws, although a value may have getters that throw, no prototype, or a
 * message that is not a string.
 */
export function readableError(thrown: unknown, part: 'message' | 'stack' = 'message'): string {
  try {
    const text: unknown = thrown instanceof Error ? (thrown[part] ?? thrown.message) : thrown
    if ((thrown as Partial<Error> | null)?.name !== 'StartupError') return redactText(String(text))
    const parts = String(text).split(REMEDY)
    return parts.map((line) => (REMEDY.test(line) ? line : redactText(line))).join('')
  } catch {
    return UNREADABLE
  }
}
