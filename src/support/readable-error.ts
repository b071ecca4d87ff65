import { redactText } from './redact-text.ts'

/** Text of a thrown value whose own members throw. */
const UNREADABLE = 'An error that cannot be read was thrown.'

/**
 * Returns the text of a thrown value without recognisable secrets: the message of an error, or its stack. Never
 * throws, although a value may have getters that throw, no prototype, or a message that is not a string.
 */
export function readableError(thrown: unknown, part: 'message' | 'stack' = 'message'): string {
  try {
    const text: unknown = thrown instanceof Error ? (thrown[part] ?? thrown.message) : thrown
    return redactText(String(text))
  } catch {
    return UNREADABLE
  }
}
