import type { ServerResponse } from 'node:http'

/** Any adapter, independent of the type that it sends. */
interface Sender<Ctx, Outgoing> {
  send(ctx: Ctx, outgoing: Outgoing): void
  mark?(ctx: Ctx): void
}

/**
 * Creates an adapter for a request whose URL contains its credential. The response is not stored, and pages do not send
 * the URL as `Referer` (RFC 6750 §2.3, ASVS 14.2.1). The headers are set now, for responses that application code
 * writes itself, and again before the response, so that no handler can change them.
 */
export function privateAdapter<Ctx, Outgoing>(
  adapter: Sender<Ctx, Outgoing>,
  res: ServerResponse,
): Sender<Ctx, Outgoing> {
  setPrivate(res)
  return {
    send(ctx, outgoing) {
      setPrivate(res)
      adapter.send(ctx, outgoing)
    },
    mark(ctx) {
      setPrivate(res)
      adapter.mark?.(ctx)
    },
  }
}

function setPrivate(res: ServerResponse): void {
  if (res.headersSent) return
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('Referrer-Policy', 'no-referrer')
}
