import type { OutboxMessage } from '../outbox.ts'

/**
 * Policy of the document that holds a message's HTML: an opaque origin without script, forms, popups or network; only
 * its own inline styles and `data:` images. It holds when the document is opened outside the frame as well.
 */
export const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

/** The HTML of a message for the frame: as it was sent, with the images it carries itself in their places. */
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
