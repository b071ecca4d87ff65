import { inTime } from 'mortar/kit'
import { MailError } from './mail-error.ts'

/** Properties that nodemailer and SMTP add to an error. */
interface TransportFailure {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly permanent?: unknown
}

/**
 * Runs a delivery with a time limit in seconds. After it the promise rejects and the signal is aborted, even if the
 * transport ignores the signal. The timer does not keep the process alive.
 */
export async function withDeadline<T>(
  timeout: number,
  deliver: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController()
  return inTime(deliver(abort.signal), timeout * 1000, () => {
    // The time limit is the reason of the failure, not what the transport says about its aborted signal.
    queueMicrotask(() => abort.abort())
    return tookTooLong(timeout)
  })
}

function tookTooLong(timeout: number): MailError {
  return new MailError('MAIL_TIMEOUT', `The mail was not sent: the transport took longer than ${timeout} s.`)
}

/** Makes the error of a rejected `send`: the transport's message with credentials removed. */
export function explainFailure(
  error: unknown,
  { id, redact }: { id: string; redact: (text: string) => string },
): MailError {
  if (error instanceof MailError) return new MailError(error.code, error.message, { id, reason: 'ETIMEDOUT' })
  const { code, responseCode, permanent } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as TransportFailure
  const words = redact(error instanceof Error ? error.message : String(error))
  return new MailError('MAIL_NOT_SENT', `The mail was not sent: ${words}`, {
    id,
    ...(typeof code === 'string' ? { reason: code } : {}),
    ...(typeof responseCode === 'number' ? { responseCode } : {}),
    ...(typeof permanent === 'boolean' ? { permanent } : {}),
    cause: redactedCopy(error, redact),
  })
}

/** Copies the stack only: other properties of the original may contain commands, options and recipients. */
function redactedCopy(error: unknown, redact: (text: string) => string): Error {
  const copy = new Error(redact(error instanceof Error ? error.message : String(error)))
  copy.stack = error instanceof Error ? redact(error.stack ?? error.message) : (copy.stack ?? '')
  return copy
}
