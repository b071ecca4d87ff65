/** Why a socket was closed: the code, and the reason that the client reads beside it. `docs/realtime.md` has the table. */
export const CLOSES = {
  done: { code: 1000, reason: '' },
  closing: { code: 1001, reason: 'closing' },
  binary: { code: 1003, reason: 'binary_message' },
  silent: { code: 1003, reason: 'no_messages' },
  invalid: { code: 1007, reason: 'invalid_message' },
  failed: { code: 1011, reason: 'handler_failed' },
  restart: { code: 1012, reason: 'restart' },
  slow: { code: 1013, reason: 'slow_reader' },
  session: { code: 4401, reason: 'session_ended' },
  rate: { code: 4429, reason: 'rate_limited' },
} as const satisfies Record<string, Close>

/** A close frame (RFC 6455 §5.5.1). */
export interface Close {
  readonly code: number
  readonly reason: string
}

/** The code for an error that a handler throws deliberately: 4404 for a 404. */
export function codeOfStatus(status: number): number {
  return 4000 + status
}

/** Most bytes of a reason (RFC 6455 §5.5). */
const LONGEST_REASON = 123

/** Returns a reason that fits into a close frame. A character that was cut is left out. */
export function shortened(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, LONGEST_REASON)
    .toString()
    .replace(/\ufffd$/, '')
}

/** Codes that the protocol itself sends: a normal end, a broken frame, a lost connection, a message that is too large. */
const OF_PROTOCOL = [1002, 1005, 1006, 1009]
const KNOWN: ReadonlySet<number> = new Set([...OF_PROTOCOL, ...Object.values(CLOSES).map(({ code }) => code)])

/** Returns the label of a code for metrics, which has few values: a client may send any code. */
export function labelOf(code: number): string {
  return KNOWN.has(code) || (code >= 4400 && code < 4600) ? String(code) : 'other'
}
