import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { isEventStream, type Outgoing } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Abortable, OpenRequests } from '../../context/request-signal.ts'
import { endEvents } from '../end-with-session.ts'

/**
 * Ends a stream of server-sent events when the application begins to close. Such a stream never ends by itself and
 * would delay the stop until its deadline. The browser reconnects by itself (HTML, section 9.2).
 */
export function endEventStreamOnClose(ctx: RequestContext, outgoing: Outgoing, open: OpenRequests): void {
  const { payload } = outgoing
  if (typeof payload === 'string' || !(payload instanceof Readable)) return
  const { req, res } = ctx.internal
  if (!isEventStream(res, outgoing.type)) return
  open.add(new OpenEvents(res, payload), req, res)
}

class OpenEvents implements Abortable {
  readonly #res: ServerResponse
  readonly #payload: Readable

  constructor(res: ServerResponse, payload: Readable) {
    this.#res = res
    this.#payload = payload
  }

  abort(): void {
    endEvents(this.#res, this.#payload)
  }
}
