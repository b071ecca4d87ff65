import { MailError } from './mail-error.ts'

/** What nodemailer and SMTP put on an error. */
interface TransportFailure {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly permanent?: unknown
}

/**
 * Runs a delivery with a time limit in seconds. When it is up, the signal is aborted and the promise rejects, whether
 * the transport heeds the signal or not. The timer does not keep the process alive.
 */
export async function withDeadline<T>(
  timeout: number,
  deliver: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(tookTooLong(timeout))
      abort.abort()
    }, timeout * 1000)
    timer.unref()
  })
  try {
    return await Promise.race([deliver(abort.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

function tookTooLong(timeout: number): MailError {
  return new MailError('MAIL_TIMEOUT', `The mail was not sent: the transport took longer than ${timeout} s.`)
}

/** Makes the error that `send` rejects with: the transport's own words, without the credentials that may be in them. */
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

/** The stack of the original without its other properties, which may hold commands, options and recipients. */
function redactedCopy(error: unknown, redact: (text: string) => string): Error {
  const copy = new Error(redact(error instanceof Error ? error.message : String(error)))
  copy.stack = error instanceof Error ? redact(error.stack ?? error.message) : (copy.stack ?? '')
  return copy
}
