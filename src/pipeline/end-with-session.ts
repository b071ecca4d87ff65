import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Authenticator } from '../contracts/authenticator.ts'
import { isEventStream, type Outgoing } from '../context/outgoing.ts'
import type { Prepare, RequestContext } from '../context/request-context.ts'
import { takeEnd } from '../context/request-signal.ts'
import { Unauthorized } from '../errors/http-error.ts'
import { whenClosed } from '../support/when-closed.ts'
import { viewOf } from './identify.ts'

/** Watches the session of a request and ends its long response with it. */
export type EndWithSession = NonNullable<Prepare['endWithSession']>

/**
 * Returns the watcher for guarded routes: a response that is a stream ends when the credential of its request ends.
 * Undefined if the authenticator cannot report that.
 */
export function compileEndWithSession(authenticator: Authenticator | undefined): EndWithSession | undefined {
  if (authenticator?.watch === undefined) return undefined
  return (ctx, outgoing) => {
    const { req, res } = ctx.internal
    const isLong = outgoing.status === 101 || outgoing.payload instanceof Readable
    if (ctx.credential === null || ctx.method === 'HEAD' || !isLong) return
    const stop = authenticator.watch!(ctx.credential, viewOf(ctx), () => void endInTurn(ctx, outgoing))
    whenClosed(req, res, stop)
  }
}

/** A session has few responses, but thousands of sessions can end at the same time. */
async function endInTurn(ctx: RequestContext, outgoing: Outgoing): Promise<void> {
  const turn = takeEnd()
  if (turn !== undefined) await turn
  end(ctx, outgoing)
}

function end({ internal }: RequestContext, { payload, type }: Outgoing): void {
  const { res, takeover } = internal
  const reason = new Unauthorized('The session of this response has ended.', {
    code: 'invalid_token',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
  ;(internal.abort ??= new AbortController()).abort(reason)
  if (!(payload instanceof Readable)) takeover!.end(reason)
  // The headers are not sent yet, so the response becomes a 401.
  else if (!res.headersSent) payload.destroy(reason)
  else if (isEventStream(res, type)) endEvents(res, payload)
  // A download that is cut off must not look complete.
  else res.destroy()
}

/** Milliseconds for a client to read the rest. */
const GRACE = 50

/** Ends a response of server-sent events as a complete one, after which the browser connects again by itself. */
export function endEvents(res: ServerResponse, payload: Readable): void {
  // A client that reads nothing never takes the end.
  const timer = setTimeout(() => res.destroy(), GRACE)
  // Not the callback of `end`, which the response of `app.inject` does not take. No listener of `close`, of which a
  // response through Koa has many: the session and the application may end in the same turn.
  res.once('finish', () => {
    clearTimeout(timer)
    payload.destroy()
  })
  res.end()
}
