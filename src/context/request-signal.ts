import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError, ServiceUnavailable } from '../errors/http-error.ts'
import { createTurns } from '../support/turns.ts'
import { isSentWhole, whenClosed } from '../support/when-closed.ts'

/** Work that can be aborted: an `AbortController`, or a stream that is being sent. */
export interface Abortable {
  abort(reason: unknown): void
}

/** Of everything that ends because its application closes or its session has ended. */
export const takeEnd = createTurns()

/** Work of an application that ends when the application begins to close. */
export class OpenRequests {
  private readonly open = new Set<Abortable>()
  private reason: unknown = undefined

  get isClosing(): boolean {
    return this.reason !== undefined
  }

  /** Aborts all added work, a part in each turn of the event loop, and any work that is added later. */
  async abortAll(): Promise<void> {
    this.reason ??= new ServiceUnavailable('The application is closing.', { retryAfter: 1 })
    for (const one of this.open) {
      const turn = takeEnd()
      if (turn !== undefined) await turn
      if (this.open.delete(one)) one.abort(this.reason)
    }
  }

  /** Tracks `one` until the response closes, then calls `onClose`. */
  add(one: Abortable, req: IncomingMessage, res: ServerResponse, onClose?: () => void): void {
    this.hold(one)
    whenClosed(req, res, () => {
      this.release(one)
      onClose?.()
    })
  }

  /** Tracks `one` until `release`. */
  hold(one: Abortable): void {
    if (this.reason !== undefined) one.abort(this.reason)
    else this.open.add(one)
  }

  release(one: Abortable): void {
    this.open.delete(one)
  }
}

/** Creates the controller of `ctx.signal`: it aborts when the client disconnects or the application begins to close. */
export function createAbort(open: OpenRequests, req: IncomingMessage, res: ServerResponse): AbortController {
  const controller = new AbortController()
  open.add(controller, req, res, () => {
    if (!isSentWhole(res)) controller.abort(clientLeft())
  })
  return controller
}

/** The error for work whose client has disconnected. It is not logged as a failure. */
export function clientLeft(): HttpError {
  return new HttpError(499, 'The client disconnected before the response was complete.', {
    code: 'client_closed_request',
  })
}
