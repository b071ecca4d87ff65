import type { RequestContext } from '../../context/request-context.ts'
import { promiseWithResolvers } from '../../support/thenable.ts'
import { forgetSocketClose, onSocketClose } from '../../support/socket-close.ts'

/** Waits for the end of requests whose services have disposers. Nothing is attached to any other request. */
export type RequestEnds = ReturnType<typeof createRequestEnds>

/** Creates the watch of one application. */
export function createRequestEnds() {
  const open = new Set<WatchedRequest>()
  return {
    /**
     * Calls `dispose` once: after the handler has settled, and the response has finished or its connection has closed.
     */
    watch(ctx: RequestContext, dispose: () => Promise<void>) {
      const request = watchRequest(ctx, async () => {
        await dispose()
        open.delete(request)
      })
      open.add(request)
      request.check()
    },
    /**
     * Resolves when the services of all watched requests are disposed of. After `timeout` seconds it disposes of those
     * whose handler has not settled.
     */
    async drain(timeout: number) {
      if (open.size === 0) return
      const timer = setTimeout(() => {
        for (const request of open) request.end()
      }, timeout * 1000)
      await Promise.all([...open].map(({ ended }) => ended))
      clearTimeout(timer)
    },
  }
}

interface WatchedRequest {
  readonly ended: Promise<void>
  /** Ends the request if it is over. */
  check(): void
  /** Ends the request now. */
  end(): void
}

function watchRequest({ internal }: RequestContext, dispose: () => Promise<void>): WatchedRequest {
  const { req, res } = internal
  let isResponseOver = res.closed || res.writableFinished || res.destroyed || req.socket.destroyed
  let hasEnded = false
  const { promise: ended, resolve } = promiseWithResolvers()
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    forgetSocketClose(req.socket, responseIsOver)
    void dispose().then(resolve)
  }
  const check = (): void => {
    if (isResponseOver && internal.isSettled) end()
  }
  const responseIsOver = (): void => {
    isResponseOver = true
    check()
  }
  internal.onSettled = check
  res.once('finish', responseIsOver).once('close', responseIsOver)
  // A pipelined response that is still queued never emits `close` when the connection ends first.
  onSocketClose(req.socket, responseIsOver)
  return { ended, check, end }
}
