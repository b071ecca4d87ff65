import type { OutboxMessage } from '../outbox.ts'

/**
 * Content-Security-Policy of a message's HTML: an opaque origin without script, forms, popups or network, with its own
 * inline styles and `data:` images only. The header also applies when the document is opened outside the frame.
 */
export const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

/** Returns the message's HTML for the frame, with embedded images as `data:` URLs. */
export function frameDocument(message: OutboxMessage): string {
  return (message.html ?? '').replace(
    /\bcid:([^\s"'<>)]{1,200})/gi,
    (whole, id: string) => message.images.get(id) ?? message.images.get(decoded(id)) ?? whole,
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
